// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The search of a tuner, and its results.
#include <algorithm>
#include <cstring>
#include <limits>

#include "libtune/base/error.hpp"
#include "libtune/bindings/c/handles.hpp"
#include "libtune/extra/bare/kernel_parameters.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/session.hpp"

struct libtune_tuned {
  libtune_tuned(std::optional<tune::tuned_kernel> its_kernel, const tune::configuration& found,
                std::vector<tune::trial> its_trials)
      : kernel(std::move(its_kernel)), best(found.values()), trials(std::move(its_trials)) {
    const auto winner = std::ranges::find(trials, found.values(), &tune::trial::configuration);
    if (winner != trials.end()) time = winner->score;
  }

  const tune::tuned_kernel& require_kernel() const {
    if (kernel) return *kernel;
    throw tune::argument_error("what was tuned is no kernel: a function measured it");
  }

  std::optional<tune::tuned_kernel> kernel;  // empty for a function
  tune::c_api::value_list best;
  std::vector<tune::trial> trials;
  std::optional<tune::run_time> time{};
};

namespace tune::c_api {
namespace {

/// Keeps the trials of the last search, and reports each to the caller.
class trial_listener final : public observer {
 public:
  explicit trial_listener(callback<libtune_trial_function> hears) : hears_(hears) {}

  void trial_finished(const tuning_subject&, const trial& made) override {
    if (hears_.function == nullptr || stopped_) return;
    const value_list values(made.configuration);
    const double time = made.score ? made.score->count() : std::numeric_limits<double>::quiet_NaN();
    const libtune_status status =
        hears_.function(hears_.user, values.data(), values.size(),
                        std::string(outcome_name(made.outcome)).c_str(), made.reason.c_str(), time);
    stopped_ = status != LIBTUNE_OK;
  }
  void search_finished(const search_finished_event& event) override { trials_ = event.trials; }
  std::vector<trial> take() { return std::move(trials_); }
  bool has_stopped() const noexcept { return stopped_; }

 private:
  callback<libtune_trial_function> hears_;
  bool stopped_ = false;
  std::vector<trial> trials_;
};

/// One configuration that a function of the caller measures. The first call happens at its
/// generation, so that it can be skipped; its time is the time of the first run.
measure measured_by(callback<libtune_measure_function> by,
                    const std::vector<named_value>& configuration) {
  auto values = std::make_shared<const value_list>(configuration);
  const auto call = [by, values](int iterations, double& seconds) {
    clear_last_error();
    return by.function(by.user, values->data(), values->size(), iterations, &seconds);
  };
  double first = 0;
  const libtune_status status = call(1, first);
  if (status == LIBTUNE_SKIPPED) {
    return measure::skipped(callback_reason(status, "the function that measures skips it"));
  }
  if (status != LIBTUNE_OK) throw_failed(status, "the function that measures failed");
  auto kept = std::make_shared<std::optional<double>>(first);
  return make_measure([call, kept](int iterations) {
    if (iterations == 1 && *kept) return *std::exchange(*kept, std::nullopt);
    double seconds = 0;
    const libtune_status again = call(iterations, seconds);
    if (again != LIBTUNE_OK) throw_failed(again, "the function that measures failed");
    return seconds;
  });
}

search_problem make_problem(const libtune_tuner& of) {
  const search_space space = of.kernel.space();
  return {.space = space,
          .configuration = [space](std::size_t index) { return space.values(index); },
          .needs = [](std::size_t) -> std::optional<resources> { return std::nullopt; },
          .generate = [space, by = of.measures](
                          std::size_t index) { return measured_by(by, space.values(index)); },
          .find = [space](const std::vector<named_value>& values) { return space.find(values); },
          .contains = [space](const std::vector<named_value>& v) { return space.contains(v); },
          .needs_of = [](const auto&) -> std::optional<resources> { return std::nullopt; },
          .metrics = {.computed = of.metrics, .probes = {}}};
}

/// The parts of an autotuner for a function of the caller.
detail::autotuner_parts parts_of(const libtune_tuner& of) {
  const search_space space = of.kernel.space();
  const auto first = space.first();
  return {.name = of.remembered->name,
          .version = of.remembered->version,
          .key_fields = describe_values(of.remembered->key.values()),
          .tuning_fields = detail::describe_parameters(space.parameters()),
          .test_default = first ? *first : detail::first_of_each(space.parameters()),
          .tunes =
              [&of](tuning_session& session, const std::vector<named_value>&) {
                const search_problem problem = make_problem(of);
                return problem.configuration(session.tune(problem));
              },
          .check =
              [space](const std::vector<named_value>& values) {
                for (const parameter& each : space.parameters()) {
                  const auto found = std::ranges::find(values, each.name, &named_value::name);
                  if (found == values.end() ||
                      std::ranges::find(each.candidates, found->value) == each.candidates.end()) {
                    throw argument_error("it has no candidate for '" + each.name + "'");
                  }
                }
              },
          .goal = {},
          .repeatable = true};
}

configuration find_best(const libtune_tuner& of, const context& context,
                        const tuning_options& options) {
  detail::check_figure_names(of.kernel.space().parameters(), of.metrics, of.read_by_metrics,
                             options.goal.value_or(tuning_goal{}));
  if (of.measures.function == nullptr) {
    throw argument_error("the tuner '" + of.defined.name +
                         "' has nothing that measures: call libtune_tuner_measure_by");
  }
  if (of.remembered) {
    const auto core = detail::make_autotuner(parts_of(of));
    return configuration(
        detail::obtain_tuning(*core, context, of.remembered->key.values(), &options));
  }
  tuning_session session(context,
                         {.function = of.defined.name,
                          .version = 0,
                          .arguments = {},
                          .device = context.device().info()},
                         options);
  const search_problem problem = make_problem(of);
  return configuration(problem.configuration(session.tune(problem)));
}

void add_metrics(const trial& of, const std::set<std::string>& taken, table_builder& table) {
  for (const metric& m : of.metrics) table.set(apart_from(taken, "metric_", m.name), m.value);
}

}  // namespace
}  // namespace tune::c_api

using tune::c_api::give;
using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;

libtune_status libtune_tuner_run(libtune_tuner* tuner, const libtune_context* context,
                                 const libtune_named_value* configuration, size_t count,
                                 libtune_results** results) {
  return giving(results, [&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    give(results, of.kernel.run(required(context, "the context").context,
                                tune::configuration(tune::c_api::to_values(configuration, count))));
  });
}

libtune_status libtune_tuner_tune(libtune_tuner* tuner, const libtune_context* context,
                                  libtune_tuned** tuned) {
  return giving(tuned, [&] {
    const auto& of = required(tuner, "the tuner");
    const tune::context& in = required(context, "the context").context;
    tune::tuning_options options = of.options_in(in);
    const auto listener = std::make_shared<tune::c_api::trial_listener>(of.hears);
    const tune::detail::stop_scope stops(
        [&] { return listener->has_stopped() || tune::c_api::is_stop_wanted(); });
    options.observers.push_back(listener);
    if (of.is_kernel) {
      tune::tuned_kernel made = of.kernel.tune(in, options);
      tune::detail::require_not_stopped();
      const tune::configuration best = made.best();
      std::vector<tune::trial> trials = made.trials();
      return give(tuned, std::move(made), best, std::move(trials));
    }
    const tune::configuration best = tune::c_api::find_best(of, in, options);
    tune::detail::require_not_stopped();
    give(tuned, std::nullopt, best, listener->take());
  });
}

libtune_status libtune_tuned_best(const libtune_tuned* tuned,
                                  const libtune_named_value** configuration, size_t* count) {
  return guarded([&] { required(tuned, "what was tuned").best.give(configuration, count); });
}

libtune_status libtune_tuned_time(const libtune_tuned* tuned, double* time_ns) {
  return guarded([&] {
    const auto& time = required(tuned, "what was tuned").time;
    if (!time) return LIBTUNE_NOT_FOUND;
    required(time_ns, "the place for the time") = time->count();
    return LIBTUNE_OK;
  });
}

libtune_status libtune_tuned_trials(const libtune_tuned* tuned, libtune_table** table) {
  return giving(table, [&] {
    const auto& of = required(tuned, "what was tuned");
    const std::set<std::string> facts{"outcome",        "message",        "score_ns",
                                      "score_lower_ns", "score_upper_ns", "samples_ns",
                                      "level",          "preparation_ns", "elapsed_ns"};
    std::set<std::string> taken = facts;
    tune::c_api::table_builder made;
    for (const tune::trial& each : of.trials) {
      made.begin_row();
      for (const tune::named_value& v : each.configuration) {
        made.set(tune::c_api::apart_from(facts, "value_", v.name), v.value);
        taken.insert(v.name);
      }
      const auto number = [](const auto& of_time) {
        return of_time ? tune::value(static_cast<double>(of_time->count())) : tune::value();
      };
      made.set("outcome", std::string(outcome_name(each.outcome)));
      made.set("message", each.reason);
      made.set("score_ns", number(each.score));
      made.set("score_lower_ns",
               each.bounds ? tune::value(each.bounds->lower.count()) : tune::value());
      made.set("score_upper_ns",
               each.bounds ? tune::value(each.bounds->upper.count()) : tune::value());
      std::vector<double> samples;
      for (const tune::run_time sample : each.samples.times()) samples.push_back(sample.count());
      made.set("samples_ns", std::move(samples));
      made.set("level", each.level);
      made.set("preparation_ns", std::int64_t{each.preparation.count()});
      made.set("elapsed_ns", std::int64_t{each.elapsed.count()});
      tune::c_api::add_metrics(each, taken, made);
    }
    std::move(made).give(table);
  });
}

libtune_status libtune_tuned_instantiate(const libtune_tuned* tuned, const libtune_queue* queue,
                                         libtune_operation** operation) {
  return giving(operation, [&] {
    const auto& kernel = required(tuned, "what was tuned").require_kernel();
    auto made = std::make_unique<tune::bare_operation>(
        kernel.instantiate(required(queue, "the queue").queue));
    auto* bare = made.get();
    const auto set = [](std::string_view name, const tune::value&) {
      throw tune::argument_error("a tuned kernel has no setting '" + std::string(name) +
                                 "': use libtune_operation_set_argument");
    };
    give(operation, std::move(made), bare, set);
  });
}

libtune_status libtune_tuned_run(const libtune_tuned* tuned, const libtune_context* context,
                                 libtune_results** results) {
  return giving(results, [&] {
    give(results, required(tuned, "what was tuned")
                      .require_kernel()
                      .run(required(context, "the context").context));
  });
}

libtune_status libtune_tuned_destroy(libtune_tuned* tuned) { return tune::c_api::destroy(tuned); }

libtune_status libtune_results_read(const libtune_results* results, size_t argument,
                                    void* destination, size_t bytes) {
  return guarded([&] {
    const auto& of = required(results, "the results").results;
    const tune::device_array& array = of.array(argument);
    tune::c_api::require_bytes(array.type(), array.size(), bytes);
    if (bytes == 0) return;
    static_cast<void>(required(static_cast<char*>(destination), "the destination"));
    tune::c_api::visit_element(array.type(), [&]<class T>() {
      const tune::host_array<T> copy = of.get<T>(argument);
      std::memcpy(destination, copy.data(), bytes);  // without padding
    });
  });
}

libtune_status libtune_results_destroy(libtune_results* results) {
  return tune::c_api::destroy(results);
}
