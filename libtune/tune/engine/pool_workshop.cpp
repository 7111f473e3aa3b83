// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/pool_workshop.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "libtune/kernel/cache/cached_binary.hpp"

namespace tune {
namespace {

constexpr double priorities_per_doubling = 8;

supplied_program to_supplied(const compile_result& result) {
  using status = supplied_program::status;
  switch (result.what) {
    case compile_result::status::built: return {status::made, result.binary, {}};
    case compile_result::status::build_failed: return {status::refused, {}, result.text};
    case compile_result::status::timed_out: return {status::timed_out, {}, result.text};
    case compile_result::status::crashed:
    case compile_result::status::out_of_memory: return {status::crashed, {}, result.text};
    case compile_result::status::unavailable: break;
  }
  return {status::left_over, {}, {}};
}

}  // namespace

pool_workshop::pool_workshop(compile_pool& pool, const context& context,
                             std::chrono::nanoseconds time_limit)
    : pool_(pool),
      limits_{.time = time_limit},
      is_for_pools_(pool.is_for(context)),
      capacity_(pool.can_compile(context) ? static_cast<std::size_t>(pool.workers()) : 0),
      expected_(capacity_) {}

pool_workshop::~pool_workshop() {
  for (const pending& item : pending_) item.ticket.cancel();
}

std::optional<supplied_program> pool_workshop::do_find(const wanted_program& wanted) {
  if (auto binary = find_cached_binary(wanted.context, wanted.source)) {
    return supplied_program{supplied_program::status::made, *std::move(binary), {}};
  }
  return std::nullopt;
}

void pool_workshop::do_order(program_order order, const wanted_program& wanted, double cost) {
  // All together, so that their start costs the time of one. No more than find work: while they
  // start they take cores that somebody else measures on.
  if (!std::exchange(started_, true)) {
    pool_.warm_up(wanted.context, static_cast<int>(std::min(expected_, capacity_)));
  }
  compile_limits limits = limits_;
  limits.priority = cost > 1 ? static_cast<int>(priorities_per_doubling * std::log2(cost)) : 0;
  pending_.push_back(
      {order, wanted, pool_.submit(wanted.context, wanted.source, limits, wanted.launches)});
}

std::vector<delivered_program> pool_workshop::do_deliver(time_point until) {
  std::uint64_t seen = pool_.completed();
  std::vector<delivered_program> ready = collect();
  while (ready.empty() && !pending_.empty() && time_point::clock::now() < until) {
    seen = pool_.wait_any(seen, until);
    ready = collect();
  }
  return ready;
}

std::string pool_workshop::do_shortcoming() const {
  return is_for_pools_ ? pool_.why_unavailable() : std::string();
}

std::vector<delivered_program> pool_workshop::collect() {
  std::vector<delivered_program> ready;
  std::erase_if(pending_, [&](const pending& item) {
    if (!item.ticket.done()) return false;
    const compile_result& result = item.ticket.result();
    if (result.what == compile_result::status::built) {
      cache_binary(item.wanted.context, item.wanted.source, result.binary);
    }
    ready.push_back({item.order, to_supplied(result), result.elapsed});
    return true;
  });
  return ready;
}

}  // namespace tune
