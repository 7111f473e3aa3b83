// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// The state of a key when a program is ready.
enum class key_readiness : std::uint8_t {
  stored,     ///< a result of this device was stored before
  tuned,      ///< a search has found its result, and ended by itself
  partly,     ///< a search has found its result, and was ended by its time
  not_tuned,  ///< there was no time for a search: it has the nearest result or the test default
  failed,     ///< a search has failed: it has the nearest result or the test default
};

/// The words of a state, such as "not tuned".
std::string_view key_readiness_name(key_readiness state) noexcept;

/// A key of a program that is ready.
struct ready_key {
  std::string function{};                ///< the name of the autotuner
  int version = 0;                       ///< and its version
  std::vector<named_value> arguments{};  ///< the key
  key_readiness state = key_readiness::stored;
  /// Its part of the device time of a frame, before the tuning: 0.1 is 10 %.
  double share = 0;
  std::chrono::nanoseconds spent{0};  ///< the time of its search
  /// The expected part of that frame's time that a whole search would save.
  double cost = 0;
  bool is_tuned_behind = false;  ///< it is tuned while the program runs (libtune::behind)
  std::string reason{};          ///< the reason, if it is not tuned or has failed
};

/// The state of a program that is ready.
struct readiness_report {
  std::vector<ready_key> keys{};        ///< those with the greatest share first
  bool has_shares = false;              ///< shares were measured; else all keys have the same one
  std::chrono::nanoseconds limit{0};    ///< the time it was allowed to take; 0: it tuned nothing
  std::chrono::nanoseconds elapsed{0};  ///< the time it has taken

  /// The sum of the costs of all keys: the part of a frame's time that more tuning may save.
  double cost() const noexcept;
};

/// The report as a table for users, and a line with the sums.
std::string to_string(const readiness_report& report);

}  // namespace tune
