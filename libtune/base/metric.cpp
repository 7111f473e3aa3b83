// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/metric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr std::size_t longest_name = 64;

}  // namespace

bool is_metric_name(std::string_view name) noexcept {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto fits = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= longest_name && is_letter(name.front()) &&
         std::ranges::all_of(name, fits);
}

const metric* find_metric(const std::vector<metric>& list, std::string_view name) noexcept {
  const auto found = std::ranges::find(list, name, &metric::name);
  return found == list.end() ? nullptr : &*found;
}

void set_metric(std::vector<metric>& list, metric item) {
  if (!is_metric_name(item.name)) {
    throw argument_error("'" + item.name +
                         "' cannot name a metric: a name starts with a lower-case letter, holds "
                         "lower-case letters, digits and _, and has at most 64 characters");
  }
  if (!std::isfinite(item.value)) item.value = std::numeric_limits<double>::quiet_NaN();
  const auto found = std::ranges::find(list, item.name, &metric::name);
  if (found == list.end()) {
    list.push_back(std::move(item));
  } else {
    *found = std::move(item);
  }
}

}  // namespace tune
