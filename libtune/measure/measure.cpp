// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/measure.hpp"

#include <cmath>
#include <numeric>

#include "libtune/base/error.hpp"
#include "libtune/measure/timing/measurable.hpp"
#include "libtune/measure/timing/stopping.hpp"

namespace tune {
namespace {

class self_timed final : public detail::measurable {
 public:
  explicit self_timed(std::function<double(int)> seconds_per_iteration)
      : seconds_per_iteration_(std::move(seconds_per_iteration)) {}

 private:
  void do_run(int runs) override { seconds_per_iteration_(runs); }
  std::vector<run_time> do_sample(int iterations) override {
    return {std::chrono::duration<double>(seconds_per_iteration_(iterations))};
  }
  void do_finish() override {}  // the function has waited
  void do_cache(cache_state) override {}
  run_time do_timer_resolution() const override { return run_time::zero(); }

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

measure& measure::report(std::function<std::vector<metric>()> figures) & {
  require_operation();
  report_ = std::move(figures);
  return *this;
}

measure measure::report(std::function<std::vector<metric>()> figures) && {
  return std::move(report(std::move(figures)));
}

std::vector<metric> measure::figures() const {
  std::vector<metric> all = judge_ ? judge_->figures() : std::vector<metric>{};
  if (!report_) return all;
  for (metric& each : report_()) set_metric(all, std::move(each));
  return all;
}

measure& measure::check_runs(std::shared_ptr<run_check> judge) & {
  require_operation();
  judge_ = std::move(judge);
  return *this;
}

measure measure::check_runs(std::shared_ptr<run_check> judge) && {
  return std::move(check_runs(std::move(judge)));
}

measure& measure::reset(std::function<void()> function, reset_before before) & {
  require_operation();
  reset_ = std::move(function);
  reset_before_ = before;
  return *this;
}

measure measure::reset(std::function<void()> function, reset_before before) && {
  return std::move(reset(std::move(function), before));
}

measure& measure::over(std::vector<timed_inputs> all) & {
  require_operation();
  for (const timed_inputs& each : all) {
    if (each.prepare && std::isfinite(each.weight) && each.weight > 0) continue;
    throw argument_error(
        "the inputs of a configuration need a function that sets them, and a "
        "positive weight, not " +
        std::to_string(each.weight));
  }
  inputs_ = std::move(all);
  return *this;
}

measure measure::over(std::vector<timed_inputs> all) && { return std::move(over(std::move(all))); }

measure& measure::work(declared_work of_a_run) & {
  require_operation();
  for (const double amount : {of_a_run.flops, of_a_run.bytes}) {
    if (std::isfinite(amount) && amount >= 0) continue;
    throw argument_error("the work of a run is " + std::to_string(of_a_run.flops) +
                         " operations and " + std::to_string(of_a_run.bytes) +
                         " bytes; neither may be negative or infinite");
  }
  work_ = of_a_run;
  return *this;
}

measure measure::work(declared_work of_a_run) && { return std::move(work(of_a_run)); }

measure& measure::at(const device_settings& settings) & {
  settings_ = settings;
  return *this;
}

measure measure::at(const device_settings& settings) && { return std::move(at(settings)); }

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
  impl_->repeat(1);
}

std::optional<std::string> measure::run_checked(const check_steps& steps) {
  require_operation();
  const auto divide = [&steps] {
    if (steps.between) steps.between();
  };
  const auto run_once = [&] { steps.run ? steps.run() : run(); };
  if (!judge_) run_once();
  if (judge_ && steps.reports_bits) judge_->report_bits();
  for (int done = 0; judge_ && done < judge_->runs(); ++done) {
    if (done > 0) divide();
    judge_->prepare(done);
    prepared_ = false;  // it may have overwritten the reset inputs
    const bool is_timed = judge_->is_timed(done);
    is_timed ? run_once() : run();
    divide();
    if (auto wrong = judge_->judge(done)) return wrong;
    if (is_timed && steps.is_enough && steps.is_enough()) break;
  }
  if (judge_) judge_->end();
  if (!check_) return std::nullopt;
  divide();
  return check_();
}

void measure::cache(cache_state state) {
  require_operation();
  impl_->cache(state);
}

run_time measure::timer_resolution() const {
  require_operation();
  return impl_->timer_resolution();
}

std::vector<run_time> measure::sample(int iterations, int runs) {
  require_operation();
  if (iterations < 1 || runs < 1) {
    throw argument_error("a configuration cannot be sampled " + std::to_string(iterations) +
                         " times with " + std::to_string(runs) +
                         " runs each; ask for at least one of each");
  }
  std::vector<run_time> times = over_inputs([&] { return time_runs(iterations * runs); });
  // A function that times itself has already taken the mean.
  if (times.size() < static_cast<std::size_t>(iterations) * static_cast<std::size_t>(runs))
    return times;
  std::vector<run_time> means;
  for (auto begin = times.begin(); begin != times.end(); begin += runs) {
    means.push_back(std::accumulate(begin, begin + runs, run_time::zero()) / runs);
  }
  return means;
}

std::vector<run_time> measure::over_inputs(const std::function<std::vector<run_time>()>& time) {
  if (inputs_.empty()) return time();
  double whole = 0;
  for (const timed_inputs& each : inputs_) whole += each.weight;
  std::vector<run_time> means;
  for (const timed_inputs& each : inputs_) {
    each.prepare();
    impl_->finish();
    prepared_ = false;
    const std::vector<run_time> times = time();
    means.resize(times.size(), run_time::zero());
    for (std::size_t i = 0; i < times.size(); ++i) means[i] += times[i] * (each.weight / whole);
  }
  return means;
}

std::vector<run_time> measure::time_runs(int runs) {
  const int batch = reset_ && reset_before_ == reset_before::run ? 1 : runs;
  std::vector<run_time> times;
  for (int done = 0; done < runs; done += batch) {
    prepare();
    prepared_ = false;
    for (const run_time time : impl_->sample(batch)) times.push_back(time);
  }
  return times;
}

std::vector<run_time> measure::sample_whole(int runs, bool busy) {
  require_operation();
  if (runs < 1)
    throw argument_error("a configuration cannot be run " + std::to_string(runs) + " times");
  const int batch = reset_ && reset_before_ == reset_before::run ? 1 : runs;
  return over_inputs([&] {
    std::vector<run_time> times;
    for (int done = 0; done < runs; done += batch) {
      prepare();
      prepared_ = false;
      for (const run_time time : impl_->sample_whole(batch, busy)) times.push_back(time);
    }
    return times;
  });
}

void measure::repeat(int runs) {
  require_operation();
  if (runs < 1)
    throw argument_error("a configuration cannot be run " + std::to_string(runs) + " times");
  const int batch = reset_ && reset_before_ == reset_before::run ? 1 : runs;
  for (int done = 0; done < runs; done += batch) {
    prepare();
    prepared_ = false;
    impl_->repeat(batch);
  }
}

void measure::require_operation() const {
  if (!impl_) throw argument_error("this configuration is skipped; there is nothing to measure");
}

measure make_measure(tuning_command_queue queue, std::function<void()> operation,
                     run_neighbours neighbours) {
  if (!operation) throw argument_error("make_measure was given no operation");
  return measure(
      detail::make_measurable(std::move(queue), std::move(operation), std::move(neighbours)));
}

measure make_measure(std::function<double(int)> seconds_per_iteration) {
  if (!seconds_per_iteration) throw argument_error("make_measure was given no function");
  return measure(std::make_unique<self_timed>(std::move(seconds_per_iteration)));
}

samples take_samples(measure& of, const measure_settings& settings, const wall_clock& now) {
  of.cache(settings.cache);
  of.prepare();
  const auto start = now();
  const run_time device_time = of.sample(1).front();
  const run_time wall_time = now() - start;
  const int runs = runs_per_sample(device_time, of.timer_resolution());
  iteration_plan plan(settings, device_time * runs, wall_time * runs);
  samples taken;
  while (const int iterations = plan.next_batch()) {
    const auto begin = now();
    for (const run_time time : of.sample(iterations, runs)) taken.add(time);
    plan.add(iterations, now() - begin);
  }
  return taken;
}

warm_up_report warm_up(measure& by, const warm_up_settings& settings, const wall_clock& now) {
  warm_up_detector device(settings);
  do {
    const auto begin = now();
    const std::vector<run_time> times = by.sample(static_cast<int>(settings.group));
    device.add(times, now() - begin);
  } while (!device.finished());
  return {.converged = device.converged(), .runs = device.runs()};
}

}  // namespace tune
