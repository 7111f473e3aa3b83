// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_judge.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/tune/engine/trial_failure.hpp"
#include "libtune/verify/accuracy.hpp"

namespace tune {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

void note(trial& of, const std::string& text) {
  if (of.reason.find(text) == std::string::npos)
    of.reason += (of.reason.empty() ? "" : "; ") + text;
}

/// Adds the rate: work divided by the time.
void add_rate(trial& of, const char* work, const char* rate, const char* unit) {
  const metric* amount = find_metric(of.metrics, work);
  if (amount == nullptr) return;
  set_metric(of.metrics, {rate, amount->value / metric_value(of, "time"), unit});
}

/// Adds the part of a peak that a rate reaches.
void add_part(trial& of, const char* rate, const char* peak, const char* part) {
  const metric* most = find_metric(of.metrics, peak);
  if (most == nullptr) return;
  set_metric(of.metrics, {part, 100 * metric_value(of, rate) / most->value, "%"});
}

/// The work that binds, for messages: "5000 bytes, for which the device's memory".
std::string binding_work(const trial& done) {
  const auto time = [&](const char* work, const char* peak) {
    const metric* most = find_metric(done.metrics, peak);
    return most == nullptr ? 0 : metric_value(done, work) / most->value;
  };
  if (time("flops", "peak_gflops") <= time("bytes", "peak_gbs")) {
    return fmt::format("{:.6g} bytes, for which the device's memory", metric_value(done, "bytes"));
  }
  return fmt::format("{:.6g} operations, for which the device's arithmetic",
                     metric_value(done, "flops"));
}

std::optional<std::string> why_impossible(const trial& done) {
  const metric* least = find_metric(done.metrics, "least_time");
  if (least == nullptr || !done.score || !is_impossible(*done.score, least->value)) {
    return std::nullopt;
  }
  return fmt::format(
      "it took {:.1f} us for {} takes {:.1f} us: it has not done that work, or its measure "
      "declares too much",
      1e-3 * done.score->count(), binding_work(done), 1e-3 * least->value);
}

}  // namespace

bool is_statistic(const std::string& name) {
  if (name == "mean" || name == "min" || name == "spread") return true;
  return name.size() > 1 && name.front() == 'p' &&
         std::all_of(name.begin() + 1, name.end(), detail::is_digit);
}

trial_judge::trial_judge(tuning_goal goal, const std::vector<const metric_sources*>& sources)
    : goal_(std::move(goal)), judges_results_(detail::judges_results(goal_)) {
  if (goal_.objectives.empty()) goal_.objectives.emplace_back();
  std::vector<std::string> final_metrics;
  for (const metric_sources* source : sources) {
    for (const computed_metric& item : source->computed) {
      const bool is_new =
          std::ranges::find(computed_, item.name, &computed_metric::name) == computed_.end();
      if (!is_new || !item.compute) {
        throw argument_error(fmt::format("the metric '{}' {}", item.name,
                                         is_new ? "has no function" : "is computed twice"));
      }
      metric probe_name{item.name, 0, item.unit};
      std::vector<metric> check;
      set_metric(check, std::move(probe_name));
      computed_.push_back(item);
      if (item.finalists) final_metrics.push_back(item.name);
    }
    for (const auto& item : source->probes) {
      if (item == nullptr) continue;
      probes_.push_back(item);
      for (std::string& name : item->finalist_metrics()) {
        compares_ = true;
        final_metrics.push_back(std::move(name));
      }
    }
  }
  is_plain_ = goal_.is_time() && computed_.empty() && probes_.empty();
  if (is_plain_) return;
  const auto is_final = [&](const std::string& name) {
    const bool computed =
        std::ranges::find(computed_, name, &computed_metric::name) != computed_.end();
    if (!computed && is_statistic(name)) {
      statistics_.push_back(name);
      needs_samples_ = true;
      return true;
    }
    const bool is_of_finalists = std::ranges::find(final_metrics, name) != final_metrics.end();
    if (!computed && !is_of_finalists && is_accuracy_metric(name)) accuracy_.push_back(name);
    return is_of_finalists;
  };
  for (const objective& item : goal_.objectives) {
    const bool final = is_final(item.metric);
    decides_finals_ = decides_finals_ || final;
    if (!final) early_goal_.objectives.push_back(item);
    if (&item == goal_.objectives.data()) races_cost_ = !final && !(item == objective{});
  }
  for (const constraint& item : goal_.constraints) {
    const bool final = is_final(item.metric);
    decides_finals_ = decides_finals_ || final;
    if (!final) early_goal_.constraints.push_back(item);
  }
}

const trial_judge& trial_judge::by_time() {
  static const detail::never_destroyed<trial_judge> judge(tuning_goal{},
                                                          std::vector<const metric_sources*>{});
  return *judge;
}

void trial_judge::compute(trial& of, bool one_sample) const {
  add_rate(of, "flops", "gflops", "GFLOP/s");
  add_rate(of, "bytes", "gbs", "GB/s");
  add_part(of, "gbs", "peak_gbs", "of_bandwidth");
  add_part(of, "gflops", "peak_gflops", "of_arithmetic");
  if (const metric* least = find_metric(of.metrics, "least_time")) {
    set_metric(of.metrics, {"of_peak", 100 * least->value / metric_value(of, "time"), "%"});
  }
  for (const std::string& name : statistics_) {
    if (!one_sample) set_metric(of.metrics, {name, metric_value(of, name), "ns"});
  }
  for (const computed_metric& item : computed_) {
    if (one_sample && item.finalists) continue;
    metric made{item.name, unknown, item.unit};
    try {
      made.value = item.compute(of);
    } catch (const std::exception& failure) {
      note(of, fmt::format("its metric '{}' failed: {}", item.name, failure.what()));
    } catch (...) {
      note(of, fmt::format("its metric '{}' failed", item.name));
    }
    set_metric(of.metrics, std::move(made));
  }
}

void trial_judge::complete(trial& of) const { compute(of, false); }

void trial_judge::judge(trial& of, bool compared) const {
  complete(of);
  auto wrong = why_impossible(of);
  const outcome failed = wrong ? outcome::invalid_time : outcome::unfit;
  if (!wrong && !is_plain_) wrong = detail::why_unfit(compared ? goal_ : early_goal_, of, false);
  if (!wrong) wrong = why_other_bits(of);
  if (!wrong) return;
  of.outcome = failed;
  of.reason = *std::move(wrong);
  of.score.reset();
  of.bounds.reset();
}

void trial_judge::require_accuracy(const trial& checked) const {
  for (const std::string& name : accuracy_) {
    if (find_metric(checked.metrics, name) != nullptr) continue;
    throw common_mistake(fmt::format(
        "the goal '{}' names the metric '{}', which only a check of the results gives, and the "
        "author's function reports none: give make_measure a workload and an answer with "
        "report_accuracy(), or measure::report, or leave '{}' out of the goal",
        to_string(goal_), name, name));
  }
}

std::optional<std::string> trial_judge::why_other_bits(const trial& of) const {
  if (!goal_.same_bits || !reference_) return std::nullopt;
  const std::string who = "the test default (" + to_string(reference_->configuration) + ")";
  const metric* const wanted = find_metric(reference_->metrics, bits_metric);
  if (wanted == nullptr) {
    return fmt::format(
        "the goal asks for the bits of {}, which are unknown: {}", who,
        reference_->reason.empty()
            ? "the author's function gives no workload with outputs, or its results vary"
            : reference_->reason);
  }
  const metric* const own = find_metric(of.metrics, bits_metric);
  if (own != nullptr && own->value == wanted->value) return std::nullopt;
  return fmt::format("its results have other bits than those of {}", who);
}

run_time trial_judge::cost(const trial& of, run_time sample) const {
  if (!races_cost_) return sample;
  trial one{.index = of.index,
            .configuration = of.configuration,
            .outcome = outcome::measured,
            .reason = {},
            .samples = samples({sample}),
            .score = sample,
            .programs = of.programs,
            .metrics = of.metrics};
  compute(one, true);
  const objective& first = goal_.objectives.front();
  return run_time(detail::cost_of(first, metric_value(one, first.metric)));
}

std::optional<run_time> trial_judge::known_cost(const trial& of) const {
  if (!of.score) return std::nullopt;
  const run_time known = cost(of);
  return std::isnan(known.count()) ? std::nullopt : std::optional(known);
}

void trial_judge::rank(std::vector<const trial*>& trials, std::size_t first_objective,
                       double indifference) const {
  const auto by_time = [](const trial* a, const trial* b) {
    return std::pair(*a->score, a->index) < std::pair(*b->score, b->index);
  };
  std::ranges::sort(trials, by_time);
  auto end = trials.end();
  for (std::size_t i = first_objective; i < goal_.objectives.size(); ++i) {
    const objective& by = goal_.objectives[i];
    const auto cost = [&](const trial* of) {
      const double value = detail::cost_of(by, metric_value(*of, by.metric));
      return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    };
    std::stable_sort(trials.begin(), end,
                     [&](const trial* a, const trial* b) { return cost(a) < cost(b); });
    if (trials.empty()) return;
    const double tied = cost(trials.front()) * (1 + indifference);
    end = std::find_if(trials.begin(), end, [&](const trial* of) { return cost(of) > tied; });
  }
  std::sort(trials.begin(), end, by_time);
}

template <class Call>
void trial_judge::each_probe(trial* of, const Call& call) const {
  for (const auto& item : probes_) {
    std::string text = "a probe failed";
    try {
      call(*item);
      continue;
    } catch (const std::exception& failure) {
      text += std::string(": ") + failure.what();
    } catch (...) {
    }
    if (of != nullptr) note(*of, text);
    log(of != nullptr ? log_level::debug : log_level::error, text);
  }
}

void trial_judge::before_compile(const trial& of) const {
  each_probe(nullptr, [&](probe& one) { one.before_compile(of); });
}
void trial_judge::after_compile(trial& of) const {
  each_probe(&of, [&](probe& one) { one.after_compile(of); });
}
void trial_judge::before_runs(const trial& of, int runs) const {
  each_probe(nullptr, [&](probe& one) { one.before_runs(of, runs); });
}
void trial_judge::after_runs(trial& of, std::span<const run_time> times) const {
  each_probe(&of, [&](probe& one) { one.after_runs(of, times); });
}
void trial_judge::compare(std::span<const finalist> finalists) const {
  each_probe(nullptr, [&](probe& one) {
    if (!one.finalist_metrics().empty()) one.compare(finalists);
  });
}

}  // namespace tune
