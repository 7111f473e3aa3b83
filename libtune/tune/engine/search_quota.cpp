// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_quota.hpp"

#include <algorithm>

#include "libtune/base/metric.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t least_reserve = std::size_t{256} << 20;

}  // namespace

std::shared_ptr<memory_quota> make_quota(const context& context,
                                         const std::optional<memory_budget>& given) {
  const memory_figures now = context.memory();
  if (given && given->bytes > 0) return std::make_shared<memory_quota>(given->bytes);
  if (given) {
    const double bytes = given->share * static_cast<double>(now.total_bytes);
    return std::make_shared<memory_quota>(static_cast<std::size_t>(bytes));
  }
  const std::size_t least = std::min(least_reserve, now.total_bytes / 64);
  const std::size_t reserve = std::min(now.free_bytes, std::max(now.free_bytes / 4, least));
  return std::make_shared<memory_quota>(now.free_bytes - reserve, reserve);
}

std::shared_ptr<memory_quota> current_quota(const context& context,
                                            const std::optional<memory_budget>& given) {
  if (auto known = context.impl()->quota()) return known;
  return make_quota(context, given);
}

bool is_short_of_memory(const trial& item) {
  return !item.score && find_metric(item.metrics, memory_limit_metric) != nullptr;
}

void erase_short_of_memory(std::vector<trial>& trials, const memory_quota& now) {
  std::erase_if(trials, [&](const trial& item) {
    return is_short_of_memory(item) &&
           find_metric(item.metrics, memory_limit_metric)->value < static_cast<double>(now.limit());
  });
}

std::string find_want_of_memory(const std::vector<trial>& trials) {
  const auto first = std::ranges::find_if(trials, is_short_of_memory);
  return first == trials.end() ? std::string() : first->reason;
}

}  // namespace tune::detail
