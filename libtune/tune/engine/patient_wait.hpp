// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>

#include "libtune/store/files/wait_mark.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// Ends the wait for a key: who has it waits for this thread.
struct goes_on_without {};

/// How a call waits for the right to tune: it tells of the wait, and finds out if it would be for
/// itself. One thread uses it.
class [[nodiscard]] patient_wait {
 public:
  /// All outlive it. @param name  detail::tuning_name
  patient_wait(const std::string& name, const tuning_subject& subject,
               const tuning_options& options, std::chrono::milliseconds limit);

  /// To be called often while it waits. @param folder  of the locks; empty: there is none
  /// @throws goes_on_without
  void look(std::chrono::nanoseconds waited, std::optional<::pid_t> holder,
            const std::string& folder);
  /// The same for a wait for the database at a path.
  void look_for_database(std::chrono::nanoseconds waited, const std::string& path);
  /// The wait is over; there may be another.
  void end();

 private:
  const std::string& name_;
  wait_report report_;
  std::optional<wait_mark> mark_;  // where this thread has keys that others may wait for
};

}  // namespace tune
