// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtune/store/maintenance/database_content.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {

/// Which searches of a function are meant.
struct search_choice {
  std::int64_t number = 0;               ///< of a search; zero for any
  std::vector<std::string> arguments{};  ///< NAME=VALUE of a whole key; empty for any
  device_choice device{};

  /// Adds --search, --arg and those of a device.
  void add_to(CLI::App& command);

  /// The searches that fit, the latest last. @throws nothing_found if none does
  std::vector<search_content> choose(const function_content& content) const;
};

}  // namespace tune::cli
