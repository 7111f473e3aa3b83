// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/remote/tuner_program.hpp"

namespace tune::detail {

/// Runs autotune functions in children: of the program that has the function, of those that it
/// knows, such as the application and the libraries that it has loaded. What no child can do,
/// because the device or the function is not there, is done in this process, with one log line for
/// each reason; unless the options insist on isolation. Thread-safe.
class isolated_host final : public executor {
 public:
  /// A program that may have functions; to be tried before those added earlier.
  void add(tuner_program program);

 private:
  tuned_values do_tune(const tuning_task& task) override;
  std::vector<tuner_program> programs_for(const tuning_task& task) const;
  tuned_values fall_back(const tuning_task& task, const std::string& reason);
  void remember(const tuning_task& task, const tuner_program& program);

  mutable std::mutex mutex_;
  std::vector<tuner_program> programs_;         // the latest first
  std::map<std::string, tuner_program> known_;  // by function and device: which has it
  std::set<std::string> hopeless_;              // what children of all programs have refused
};

}  // namespace tune::detail
