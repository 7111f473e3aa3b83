// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/resource.h>

namespace tune::detail {

/// What a configuration could change in its process so that those after it suffer, and what neither
/// libtune nor drivers change: lower limits, the current folder, the calling thread's signal mask,
/// handlers of signals that lie in the program itself, and the seal. Threads that are left are not
/// among it, for drivers start some when they please.
class process_state {
 public:
  /// As it is now, seen from the calling thread. Does not throw.
  process_state() noexcept;

  /// What has changed since, such as "it lowered the limit RLIMIT_NOFILE of its process from 1024
  /// to 3"; empty if nothing has.
  std::optional<std::string> change_since(const process_state& before) const;

 private:
  static constexpr int signals = 65;
  using handler = void (*)(int);

  std::array<rlim_t, RLIM_NLIMITS> limits_{};
  std::uint64_t folder_device_ = 0;
  std::uint64_t folder_ = 0;
  std::uint64_t blocked_ = 0;                // the signals, bit by bit
  std::array<handler, signals> handlers_{};  // by signal
  bool sealed_ = false;
};

}  // namespace tune::detail
