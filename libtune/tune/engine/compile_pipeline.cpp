// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/compile_pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"

namespace tune {
namespace {

constexpr double priorities_per_doubling = 8;

// What is held beside the programs that are being compiled: the next to measure and the next to
// compile.
constexpr std::size_t spare = 2;
// Compile times vary, so more are ordered than would do if all were equal.
constexpr double margin = 2;

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
      is_for_pools_(compile_pool::is_for(context)),
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
  // Starting all together takes the time of one start. Not more than will have work:
  // during their start they use cores on which another process may measure.
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
      cache_binary(item.wanted.context, item.wanted.source, result.binary, result.included);
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

namespace {

// The part of a prediction error that is shared among the candidates. A larger part would learn
// faster but follow chance.
constexpr double learning_rate = 0.7;

}  // namespace

void compile_cost::learn(std::span<const std::size_t> choice, std::chrono::nanoseconds elapsed) {
  const double cost = std::log(std::max<double>(1, static_cast<double>(elapsed.count())));
  if (!knows_any_) first_ = cost;
  knows_any_ = true;
  if (choice.empty()) return;
  const double surprise = cost - std::log(std::max(1.0, predict(choice)));
  const double share = learning_rate * surprise / static_cast<double>(choice.size());
  if (factors_.size() < choice.size()) factors_.resize(choice.size());
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (factors_[i].size() <= choice[i]) factors_[i].resize(choice[i] + 1, 0);
    factors_[i][choice[i]] += share;
  }
}

double compile_cost::predict(std::span<const std::size_t> choice) const {
  if (!knows_any_) return 0;
  double cost = first_;
  for (std::size_t i = 0; i < choice.size(); ++i) cost += factor(i, choice[i]);
  return std::exp(cost);
}

double compile_cost::factor(std::size_t parameter, std::size_t candidate) const {
  const bool is_known = parameter < factors_.size() && candidate < factors_[parameter].size();
  return is_known ? factors_[parameter][candidate] : 0;
}

void compile_pipeline::add(std::unique_ptr<trial_attempt> attempt) {
  if (attempt->over() || service_.capacity() == 0) {
    done_.push_back(std::move(attempt));
    return;
  }
  // The next one to be measured needs no second generation if all its programs are cached.
  bool has_looked = false;
  if (attempt->at() == trial_attempt::stage::waiting && !attempt->has_wanted()) {
    const bool is_next = done_.empty() && (!apart_ || compiling_.empty());
    const auto find = [this](const wanted_program& wanted) { return service_.find(wanted); };
    attempt->generate_prebuilt(is_next ? find : trial_attempt::program_finder());
    has_looked = is_next;
  }
  order_or_finish(std::move(attempt), has_looked);
}

void compile_pipeline::order_or_finish(std::unique_ptr<trial_attempt> attempt, bool has_looked) {
  // Configurations that are already live must not pile up on the device.
  compiles_ahead_ = attempt->at() != trial_attempt::stage::ready;
  if (!attempt->has_wanted()) {
    done_.push_back(std::move(attempt));
    return;
  }
  if (auto known = has_looked ? std::nullopt : service_.find(attempt->wanted())) {
    attempt->add_program(attempt->wanted().digest, *std::move(known));
    done_.push_back(std::move(attempt));
    return;
  }
  const program_order order{orders_++};
  service_.order(order, attempt->wanted(), cost_.predict(attempt->choice()));
  compiling_.emplace(order, std::move(attempt));
}

void compile_pipeline::receive(time_point until) {
  for (delivered_program& delivered : service_.deliver(until)) {
    const auto place = compiling_.find(delivered.order);
    if (place == compiling_.end()) continue;
    std::unique_ptr<trial_attempt> attempt = std::move(place->second);
    compiling_.erase(place);
    if (delivered.elapsed.count() > 0) {
      cost_.learn(attempt->choice(), delivered.elapsed);
      compile_time_.add(delivered.elapsed);
    }
    if (delivered.made.what == prebuilt_program::status::made) ++compiled_;
    attempt->add_program(attempt->wanted().digest, std::move(delivered.made));
    done_.push_back(std::move(attempt));
  }
}

std::unique_ptr<trial_attempt> compile_pipeline::take(time_point until) {
  if (returned_) turn_time_.add(time_point::clock::now() - *std::exchange(returned_, std::nullopt));
  const bool waits = apart_ || done_.empty();
  if (!compiling_.empty()) receive(waits ? until : time_point::min());
  if (done_.empty() || (apart_ && !compiling_.empty())) return nullptr;
  std::unique_ptr<trial_attempt> first = std::move(done_.front());
  done_.pop_front();
  returned_ = time_point::clock::now();
  return first;
}

void compile_pipeline::abandon() noexcept {
  compiling_.clear();
  done_.clear();
}

bool compile_pipeline::has_room() {
  if (!compiles_ahead_) return done_.empty();
  if (apart_ && compiling_.empty() && !done_.empty()) return false;
  if (few_ && done_.empty() && !compiling_.empty()) receive(time_point::min());
  return compiling_.size() + done_.size() < most_held();
}

std::size_t compile_pipeline::most_held() const {
  const std::size_t capacity = service_.capacity();
  if (!few_) return depth_ * capacity;
  const bool is_unknown = compile_time_.get() == 0 || turn_time_.get() == 0;
  // With nothing done the caller would wait while compilers idle.
  if (done_.empty() || is_unknown) return capacity + spare;
  // The number that is compiled during the caller's turn.
  const double needed = std::ceil(margin * compile_time_.get() / turn_time_.get());
  return static_cast<std::size_t>(std::min(static_cast<double>(capacity), needed)) + spare;
}

}  // namespace tune
