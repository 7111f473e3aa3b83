// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/compile_service.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"

namespace tune {
namespace {

constexpr double priorities_per_doubling = 8;

prebuilt_program to_prebuilt(const compile_result& result) {
  using status = prebuilt_program::status;
  switch (result.what) {
    case compile_result::status::built: return {status::made, result.binary, {}};
    case compile_result::status::build_failed: return {status::refused, {}, result.text};
    case compile_result::status::timed_out: return {status::timed_out, {}, result.text};
    case compile_result::status::crashed:
    case compile_result::status::out_of_memory: return {status::crashed, {}, result.text};
    case compile_result::status::unavailable: break;
  }
  return {status::unavailable, {}, {}};
}

/// See make_compile_service.
class pool_compile_service final : public compile_service {
 public:
  pool_compile_service(compile_pool& pool, const context& context,
                       std::chrono::nanoseconds time_limit);
  ~pool_compile_service() override;

 private:
  struct pending {
    program_order order;
    wanted_program wanted;
    compile_future future;
  };

  std::size_t do_capacity() const override { return capacity_; }
  void do_expect(std::size_t programs) override { expected_ = programs; }
  std::optional<prebuilt_program> do_find(const wanted_program& wanted) override;
  void do_order(program_order order, const wanted_program& wanted, double cost) override;
  std::vector<delivered_program> do_deliver(time_point until) override;
  std::string do_shortcoming() const override;

  std::vector<delivered_program> collect();

  compile_pool& pool_;
  compile_limits limits_;
  bool is_for_pools_;
  std::size_t capacity_;
  std::size_t expected_;
  bool started_ = false;
  std::vector<pending> pending_;
};

pool_compile_service::pool_compile_service(compile_pool& pool, const context& context,
                                           std::chrono::nanoseconds time_limit)
    : pool_(pool),
      limits_{.time = time_limit},
      is_for_pools_(pool.is_for(context)),
      capacity_(pool.can_compile(context) ? static_cast<std::size_t>(pool.workers()) : 0),
      expected_(capacity_) {}

pool_compile_service::~pool_compile_service() {
  for (const pending& item : pending_) item.future.cancel();
}

std::optional<prebuilt_program> pool_compile_service::do_find(const wanted_program& wanted) {
  if (auto binary = find_cached_binary(wanted.context, wanted.source)) {
    return prebuilt_program{prebuilt_program::status::made, *std::move(binary), {}};
  }
  return std::nullopt;
}

void pool_compile_service::do_order(program_order order, const wanted_program& wanted,
                                    double cost) {
  // All together, so that their start costs the time of one. No more than find work: while they
  // start they use cores that another process may measure on.
  if (!std::exchange(started_, true)) {
    pool_.warm_up(wanted.context, static_cast<int>(std::min(expected_, capacity_)));
  }
  compile_limits limits = limits_;
  limits.priority = cost > 1 ? static_cast<int>(priorities_per_doubling * std::log2(cost)) : 0;
  pending_.push_back(
      {order, wanted, pool_.submit(wanted.context, wanted.source, limits, wanted.launches)});
}

std::vector<delivered_program> pool_compile_service::do_deliver(time_point until) {
  std::uint64_t seen = pool_.completed();
  std::vector<delivered_program> ready = collect();
  while (ready.empty() && !pending_.empty() && time_point::clock::now() < until) {
    seen = pool_.wait_any(seen, until);
    ready = collect();
  }
  return ready;
}

std::string pool_compile_service::do_shortcoming() const {
  return is_for_pools_ ? pool_.why_unavailable() : std::string();
}

std::vector<delivered_program> pool_compile_service::collect() {
  std::vector<delivered_program> ready;
  std::erase_if(pending_, [&](const pending& item) {
    if (!item.future.done()) return false;
    const compile_result& result = item.future.result();
    if (result.what == compile_result::status::built) {
      cache_binary(item.wanted.context, item.wanted.source, result.binary);
    }
    ready.push_back({item.order, to_prebuilt(result), result.elapsed});
    return true;
  });
  return ready;
}

}  // namespace

std::unique_ptr<compile_service> make_compile_service(compile_pool& pool, const context& context,
                                                      std::chrono::nanoseconds time_limit) {
  return std::make_unique<pool_compile_service>(pool, context, time_limit);
}

}  // namespace tune
