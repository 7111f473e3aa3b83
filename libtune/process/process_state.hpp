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

/// The state of a process that a configuration could change to the harm of later ones, and that
/// neither libtune nor drivers change: lowered limits, the current folder, the calling thread's
/// signal mask, handlers of standard signals that lie in the program itself, and the seal. Threads
/// are not included, because drivers start some at any time.
class process_state {
 public:
  /// The present state, seen from the calling thread. Does not throw.
  process_state() noexcept;

  /// Describes the first change since then, such as "it lowered the limit RLIMIT_NOFILE of its
  /// process from 1024 to 3"; empty if nothing changed.
  std::optional<std::string> change_since(const process_state& before) const;

 private:
  static constexpr int signals = 32;  // the standard ones
  using handler = void (*)(int);

  std::array<rlim_t, RLIM_NLIMITS> limits_{};
  std::uint64_t folder_device_ = 0;
  std::uint64_t folder_ = 0;
  std::uint64_t blocked_ = 0;                // one bit per signal, standard or not
  std::array<handler, signals> handlers_{};  // by signal
  bool sealed_ = false;
};

}  // namespace tune::detail
