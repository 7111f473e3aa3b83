// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "libtune/base/json.hpp"
#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/tune/goal.hpp"

namespace tune::cli {

/// The document of a report: large columns are moved into it, and an ordered one would copy them.
using report_json = detail::input;

/// Gives each new item the next number.
class numbering {
 public:
  int of(const std::string& thing) {
    const auto [place, is_new] = numbers_.try_emplace(thing, static_cast<int>(numbers_.size()));
    if (is_new) in_order_.push_back(thing);
    return place->second;
  }
  const std::vector<std::string>& things() const { return in_order_; }

 private:
  std::unordered_map<std::string, int> numbers_;
  std::vector<std::string> in_order_;
};

/// One search in the columns of a report (report_data), except for its database, function and
/// device.
report_json report_of(search_content&& search, const objective& goal);

}  // namespace tune::cli
