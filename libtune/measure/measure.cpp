// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/measure.hpp"

#include "libtune/base/error.hpp"
#include "libtune/measure/measurable.hpp"
#include "libtune/measure/queue_measurable.hpp"

namespace tune {
namespace {

class self_timed final : public detail::measurable {
 public:
  explicit self_timed(std::function<double(int)> seconds_per_iteration)
      : seconds_per_iteration_(std::move(seconds_per_iteration)) {}

 private:
  void do_run() override { seconds_per_iteration_(1); }
  std::vector<run_time> do_sample(int iterations) override {
    return {std::chrono::duration<double>(seconds_per_iteration_(iterations))};
  }
  void do_finish() override {}  // the function has waited

  std::function<double(int)> seconds_per_iteration_;
};

}  // namespace

measure::measure(std::nullptr_t) {}
measure::measure(std::unique_ptr<detail::measurable> impl) : impl_(std::move(impl)) {}
measure::measure(measure&&) noexcept = default;
measure& measure::operator=(measure&&) noexcept = default;
measure::~measure() = default;

measure measure::skipped(std::string reason) {
  measure nothing(nullptr);
  nothing.why_skipped_ = std::move(reason);
  return nothing;
}

measure& measure::check(check_function function) & {
  require_operation();
  check_ = std::move(function);
  return *this;
}

measure measure::check(check_function function) && { return std::move(check(std::move(function))); }

measure& measure::reset(std::function<void()> function) & {
  require_operation();
  reset_ = std::move(function);
  return *this;
}

measure measure::reset(std::function<void()> function) && {
  return std::move(reset(std::move(function)));
}

void measure::prepare() {
  require_operation();
  if (prepared_ || !reset_) return;
  reset_();
  impl_->finish();
  prepared_ = true;
}

void measure::run() {
  prepare();
  prepared_ = false;
  impl_->run();
}

std::optional<std::string> measure::verify() {
  require_operation();
  return check_ ? check_() : std::nullopt;
}

std::vector<run_time> measure::sample(int iterations) {
  require_operation();
  if (iterations < 1) {
    throw argument_error("a configuration cannot be sampled " + std::to_string(iterations) +
                         " times; ask for at least one iteration");
  }
  prepare();
  prepared_ = false;
  return impl_->sample(iterations);
}

void measure::require_operation() const {
  if (!impl_) throw argument_error("this configuration is skipped; there is nothing to measure");
}

measure make_measure(tuning_command_queue queue, std::function<void()> operation) {
  if (!operation) throw argument_error("make_measure was given no operation");
  return measure(
      std::make_unique<detail::queue_measurable>(std::move(queue), std::move(operation)));
}

measure make_measure(std::function<double(int)> seconds_per_iteration) {
  if (!seconds_per_iteration) throw argument_error("make_measure was given no function");
  return measure(std::make_unique<self_timed>(std::move(seconds_per_iteration)));
}

}  // namespace tune
