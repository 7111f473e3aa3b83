// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tuning of a described kernel, its result, and the tuner of its keys.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/extra/bare/kernel_description.hpp"
#include "libtune/extra/bare/kernel_parameters.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/session.hpp"

namespace tune {
namespace {

using detail::kernel_description;
using description = std::shared_ptr<const kernel_description>;

/// Keeps the trials of the last search of one function.
class trial_keeper final : public observer {
 public:
  explicit trial_keeper(std::string function) : function_(std::move(function)) {}

  void search_finished(const search_finished_event& event) override {
    if (detail::split_name(event.subject.function).first == function_) trials_ = event.trials;
  }
  std::vector<trial> take() { return std::move(trials_); }

 private:
  std::string function_;
  std::vector<trial> trials_;
};

std::vector<named_value> default_of(const kernel_description& of) {
  if (of.test_default) return of.test_default->values();
  auto first = of.space().first();
  return first ? *std::move(first) : detail::first_of_each(of.parameters);
}

detail::autotuner_parts parts_of(const description& of) {
  return {.name = of->remembered->name,
          .version = of->remembered->version,
          .key_fields = describe_values(of->remembered->key.values()),
          .tuning_fields = detail::describe_parameters(of->parameters),
          .test_default = default_of(*of),
          .tunes =
              [of](tuning_session& session, const std::vector<named_value>&) {
                const search_problem problem = detail::make_problem(of, session.context());
                return problem.configuration(session.tune(problem, of->search));
              },
          .check = [of](const auto& values) { detail::check_candidates(of->parameters, values); },
          .goal = of->goal,
          .repeatable = true};
}

void check_names(const kernel_description& of, const tuning_options& options) {
  std::vector<std::string> read = of.read_by_metrics;
  for (const expression& limit : of.limits) {
    read.insert(read.end(), limit.names().begin(), limit.names().end());
  }
  detail::check_figure_names(of.parameters, of.search.metrics.computed, std::move(read),
                             options.goal.value_or(of.goal));
}

configuration find_best(const description& of, const context& context,
                        const tuning_options& options) {
  check_names(*of, options);
  if (of->remembered) {
    const auto core = detail::make_autotuner(parts_of(of));
    return configuration(
        detail::obtain_tuning(*core, context, of->remembered->key.values(), &options));
  }
  tuning_options with = options;
  if (!with.goal) with.goal = of->goal;
  tuning_session session(context,
                         {.function = of->defined.name,
                          .version = 0,
                          .arguments = {},
                          .device = context.device().info(),
                          .test_default = default_of(*of)},
                         with);
  const search_problem problem = detail::make_problem(of, context);
  return configuration(problem.configuration(session.tune(problem, of->search)));
}

kernel_results run_once(const description& of, const context& context, const program& compiled,
                        const configuration& at) {
  command_queue queue = context.create_command_queue();
  workload work(queue);
  of->fill(work);
  bare_operation op(queue, of, compiled, at);
  work.run(op);
  return op.results();
}

}  // namespace

tuned_kernel bare_kernel::tune(const context& context) const {
  return tune(context, *tuning_options_of(context));
}

tuned_kernel bare_kernel::tune(const context& context, const tuning_options& options) const {
  const auto keeper = std::make_shared<trial_keeper>(about_->remembered ? about_->remembered->name
                                                                        : about_->defined.name);
  tuning_options with = options;
  with.observers.push_back(keeper);
  configuration best = find_best(about_, context, with);
  program compiled = about_->compile(context, best);
  return {about_, std::move(compiled), std::move(best), keeper->take()};
}

configuration bare_kernel::complete(const configuration& given) const {
  configuration all;
  for (const tune::parameter& each : about_->parameters) {
    if (given.has(each.name)) {
      all.set(each.name, detail::as_candidate(each, given.at(each.name)));
    } else if (each.candidates.size() == 1) {
      all.set(each.name, each.candidates.front());
    } else {
      throw argument_error(fmt::format("the configuration {} of the kernel '{}' has no '{}'",
                                       to_string(given.values()), about_->defined.name, each.name));
    }
  }
  for (const named_value& each : given.values()) {
    if (!all.has(each.name)) all.set(each.name, each.value);
  }
  return all;
}

program bare_kernel::compile(const context& context, const configuration& at) const {
  return about_->compile(context, complete(at));
}

bare_operation bare_kernel::instantiate(const command_queue& queue, const configuration& at) const {
  const configuration all = complete(at);
  return {queue, about_, about_->compile(queue.context(), all), all};
}

kernel_results bare_kernel::run(const context& context, const configuration& at) const {
  const configuration all = complete(at);
  return run_once(about_, context, about_->compile(context, all), all);
}

tuned_kernel::tuned_kernel(description of, tune::program compiled, configuration best,
                           std::vector<trial> trials)
    : about_(std::move(of)),
      program_(std::move(compiled)),
      best_(std::move(best)),
      trials_(std::move(trials)) {}

std::optional<run_time> tuned_kernel::time() const noexcept {
  const auto found = std::ranges::find(trials_, best_.values(), &trial::configuration);
  return found == trials_.end() ? std::nullopt : found->score;
}

bare_operation tuned_kernel::instantiate(const command_queue& queue) const {
  return {queue, about_, program_, best_};
}

kernel_results tuned_kernel::run(const context& context) const {
  return run_once(about_, context, program_, best_);
}

kernel_tuner::kernel_tuner(std::string name, int version, function describes,
                           std::optional<configuration> example)
    : name_(std::move(name)), version_(version), describes_(std::move(describes)) {
  check_function_names({name_, version_, {}, {}});
  const auto makes = [this](const std::vector<named_value>& key) {
    return detail::make_autotuner(parts_of(describe(configuration(key)).about_));
  };
  autotuner_registry::instance().add_maker(
      this, name_, version_, makes, example ? std::optional(example->values()) : std::nullopt);
}

// In a forked process a thread of the parent may hold the lock for ever.
kernel_tuner::~kernel_tuner() {
  if (!detail::is_forked()) autotuner_registry::instance().remove_maker(this);
}

bare_kernel kernel_tuner::describe(const configuration& key) const {
  bare_kernel made = detail::blaming(
      fmt::format("the function of the kernel tuner '{}' for {}", name_, to_string(key.values())),
      [&] { return describes_(key); });
  made.remember({name_, version_, key});
  return made;
}

tuned_kernel kernel_tuner::operator()(const context& context, const configuration& key) const {
  return describe(key).tune(context);
}

tuned_kernel kernel_tuner::operator()(const context& context, const configuration& key,
                                      const tuning_options& options) const {
  return describe(key).tune(context, options);
}

}  // namespace tune
