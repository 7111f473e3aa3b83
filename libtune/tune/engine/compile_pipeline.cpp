// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/compile_pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tune {
namespace {

// The part of a prediction error that is shared among the candidates. More would learn faster and
// follow chance.
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
  if (attempt->at() == trial_attempt::stage::waiting && !attempt->has_wanted()) {
    attempt->generate_prebuilt();
  }
  order_or_finish(std::move(attempt));
}

void compile_pipeline::order_or_finish(std::unique_ptr<trial_attempt> attempt) {
  // Configurations that are live already must not pile up on the device.
  compiles_ahead_ = attempt->at() != trial_attempt::stage::ready;
  if (!attempt->has_wanted()) {
    done_.push_back(std::move(attempt));
    return;
  }
  if (auto known = service_.find(attempt->wanted())) {
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
    if (delivered.elapsed.count() > 0) cost_.learn(attempt->choice(), delivered.elapsed);
    if (delivered.made.what == prebuilt_program::status::made) ++compiled_;
    attempt->add_program(attempt->wanted().digest, std::move(delivered.made));
    done_.push_back(std::move(attempt));
  }
}

std::unique_ptr<trial_attempt> compile_pipeline::take(time_point until) {
  const bool waits = apart_ || done_.empty();
  if (!compiling_.empty()) receive(waits ? until : time_point::min());
  if (done_.empty() || (apart_ && !compiling_.empty())) return nullptr;
  std::unique_ptr<trial_attempt> first = std::move(done_.front());
  done_.pop_front();
  return first;
}

void compile_pipeline::abandon() noexcept {
  compiling_.clear();
  done_.clear();
}

bool compile_pipeline::has_room() const {
  if (!compiles_ahead_) return done_.empty();
  if (apart_ && compiling_.empty() && !done_.empty()) return false;
  return compiling_.size() + done_.size() < depth_ * service_.capacity();
}

}  // namespace tune
