// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "libtune/isolation/tuner_program.hpp"
#include "libtune/tune/tuning_host.hpp"

namespace tune::detail {

/// Runs autotune functions in children. What no child can do, because the device or the function is
/// not there, is done in this process, with one log line for each reason; unless the options insist
/// on isolation. Thread-safe.
class isolated_host final : public tuning_host {
 public:
  explicit isolated_host(tuner_program program) : program_(std::move(program)) {}

 private:
  tuned_values do_tune(const tuning_task& task) override;
  tuned_values fall_back(const tuning_task& task, const std::string& reason);
  bool is_hopeless(const tuning_task& task) const;

  tuner_program program_;
  mutable std::mutex mutex_;
  std::set<std::string> hopeless_;  // what children have refused
};

}  // namespace tune::detail
