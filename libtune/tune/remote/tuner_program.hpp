// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A program that serves tuning requests when it is started as a child: one whose main begins with
/// serve_if_worker.
struct tuner_program {
  std::string path{};                    ///< of the executable; PATH is not searched
  std::vector<std::string> arguments{};  ///< all of them, the name that it is called by first
  /// What it does before its main may take so long.
  std::chrono::milliseconds start_time = std::chrono::seconds(30);
  /// "NAME=value": what its environment has beside, or in place of, what is in that of this
  /// process.
  std::vector<std::string> variables{};

  friend bool operator==(const tuner_program&, const tuner_program&) = default;
};

}  // namespace tune
