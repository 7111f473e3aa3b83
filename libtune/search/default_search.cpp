// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/default_search.hpp"

#include <algorithm>
#include <cmath>

namespace tune {
namespace {

constexpr std::size_t small_space = 64;
constexpr double effort = 6;

}  // namespace

default_search choose_search(std::size_t configurations, search_limit limit) noexcept {
  if (configurations <= small_space) return {"exhaustive", configurations};
  if (limit == search_limit::given) return {"model", configurations};
  const double most = std::ceil(effort * std::sqrt(static_cast<double>(configurations)));
  return {"model", std::min(configurations, std::max(small_space, static_cast<std::size_t>(most)))};
}

}  // namespace tune
