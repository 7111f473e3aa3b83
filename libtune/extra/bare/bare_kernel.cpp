// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/bare_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
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

void check_candidates(const kernel_description& of, const std::vector<named_value>& values) {
  for (const parameter& each : of.parameters) {
    const auto found = std::ranges::find(values, each.name, &named_value::name);
    if (found == values.end() ||
        std::ranges::find(each.candidates, found->value) == each.candidates.end()) {
      throw argument_error(fmt::format("it has no candidate for '{}'", each.name));
    }
  }
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
          .check = [of](const auto& values) { check_candidates(*of, values); },
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
                          .device = context.device().info()},
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

bool is_known(const kernel_description& of, const std::string& name) {
  return std::ranges::find(of.parameters, name, &parameter::name) != of.parameters.end();
}

}  // namespace

kernel_source kernel_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    throw argument_error(fmt::format("the kernel's file '{}' cannot be read", path));
  }
  return {path, std::move(text)};
}

kernel_text::kernel_text(std::string text) : made_(kernel_source{{}, std::move(text)}) {}

kernel_source kernel_text::of(const configuration& at, const std::string& name) const {
  const auto* given = std::get_if<kernel_source>(&made_);
  kernel_source source =
      given != nullptr ? *given : kernel_source{{}, std::get<function>(made_)(at)};
  if (source.name.empty()) source.name = name;
  return source;
}

bare_kernel::bare_kernel(definition defined)
    : about_(std::make_shared<kernel_description>(kernel_description{std::move(defined)})) {
  if (about_->defined.name.empty()) throw argument_error("a bare kernel has no name");
  const std::size_t axes = about_->defined.problem_size.size();
  if (axes < 1 || axes > 3) {
    throw argument_error(fmt::format("the kernel '{}' has a problem size of {} axes, not of 1 to 3",
                                     about_->defined.name, axes));
  }
}

kernel_description& bare_kernel::change() {
  if (about_.use_count() > 1) about_ = std::make_shared<kernel_description>(*about_);
  return *about_;
}

bare_kernel& bare_kernel::add_parameter(std::string name, std::vector<value> candidates) {
  if (name.starts_with("grid_size_") || name == "kernel_tuner") {
    throw argument_error(
        fmt::format("'{}' cannot be a parameter: the kernel gets a macro of this name", name));
  }
  // For its exceptions: each candidate becomes a macro, and the space rejects invalid candidates.
  if (!candidates.empty()) defines().add(name, candidates.front());
  candidates = detail::of_one_type(name, std::move(candidates));
  std::vector<tune::parameter> all = about_->parameters;
  all.push_back({std::move(name), std::move(candidates)});
  static_cast<void>(search_space(all));
  change().parameters = std::move(all);
  return *this;
}

bare_kernel& bare_kernel::restrict(const std::string& condition) {
  change().conditions.push_back({.text = expression(condition)});
  return *this;
}

bare_kernel& bare_kernel::restrict(predicate allows, std::string description,
                                   std::vector<std::string> reads) {
  if (description.empty())
    description = fmt::format("restriction {}", about_->conditions.size() + 1);
  change().conditions.push_back({.allows = std::move(allows),
                                 .description = std::move(description),
                                 .reads = std::move(reads)});
  return *this;
}

bare_kernel& bare_kernel::divide_grid(std::size_t axis, std::vector<quantity> divisors) {
  change().grid_divisors[axis] = std::move(divisors);
  return *this;
}
bare_kernel& bare_kernel::divide_grid_x(std::vector<quantity> divisors) {
  return divide_grid(0, std::move(divisors));
}
bare_kernel& bare_kernel::divide_grid_y(std::vector<quantity> divisors) {
  return divide_grid(1, std::move(divisors));
}
bare_kernel& bare_kernel::divide_grid_z(std::vector<quantity> divisors) {
  return divide_grid(2, std::move(divisors));
}

bare_kernel& bare_kernel::work_group(std::string x, std::string y, std::string z) {
  change().work_group_names = {std::move(x), std::move(y), std::move(z)};
  return *this;
}

bare_kernel& bare_kernel::local_memory(quantity bytes) {
  change().local_memory = std::move(bytes);
  return *this;
}

bare_kernel& bare_kernel::define(const std::string& name, value text) {
  defines().add(name, text);
  return define(name, [text = std::move(text)](const configuration&) { return text; });
}

bare_kernel& bare_kernel::define(const std::string& name,
                                 std::function<value(const configuration&)> text) {
  if (is_known(*about_, name)) {
    throw argument_error(fmt::format("the macro '{}' is a parameter of the kernel already", name));
  }
  change().macros.push_back({name, std::move(text)});
  return *this;
}

bare_kernel& bare_kernel::set_arguments(std::vector<kernel_argument> given) {
  kernel_description& about = change();
  about.arguments = std::move(given);
  about.answers.clear();
  return *this;
}

bare_kernel& bare_kernel::add_constant(std::string name, std::span<const std::byte> bytes) {
  change().constants.emplace_back(std::move(name),
                                  std::vector<std::byte>(bytes.begin(), bytes.end()));
  return *this;
}

bare_kernel& bare_kernel::add_answer(
    std::size_t argument, element_type type, const std::optional<shape>& size,
    std::function<void(tune::answer&, const std::string&, const shape&)> add) {
  const auto& all = about_->arguments;
  if (argument >= all.size() || !all[argument].as_array) {
    throw argument_error(fmt::format(
        "argument {} of the kernel '{}', of {}, is no array that could have an answer; set the "
        "arguments before the answers",
        argument, about_->defined.name, all.size()));
  }
  const kernel_argument::array& array = *all[argument].as_array;
  if (type != array.type) {
    throw argument_error(fmt::format("argument {} of the kernel '{}' is of {}, its answer of {}",
                                     argument, about_->defined.name, array.type.name(),
                                     type.name()));
  }
  const auto same = [&](const kernel_description::expected& other) {
    return other.argument == argument;
  };
  if (std::ranges::any_of(about_->answers, same)) {
    throw argument_error(fmt::format("argument {} of the kernel '{}' has an answer already",
                                     argument, about_->defined.name));
  }
  if (size) {
    detail::blaming(about_->answer_name(argument),
                    [&] { detail::check_elements(*size, array.size); });
  }
  change().answers.push_back({argument, std::move(add)});
  return *this;
}

bare_kernel& bare_kernel::verify(verifier decides) {
  change().verify = std::move(decides);
  return *this;
}

bare_kernel& bare_kernel::nondeterministic() {
  change().deterministic = false;
  return *this;
}

bare_kernel& bare_kernel::work(declared_work of_a_run) {
  for (const double amount : {of_a_run.flops, of_a_run.bytes}) {
    if (amount >= 0 && std::isfinite(amount)) continue;
    throw argument_error(fmt::format("the work of the kernel '{}' is {}, not a positive number",
                                     about_->defined.name, amount));
  }
  change().work = of_a_run;
  change().work_by_formulas.reset();
  return *this;
}

bare_kernel& bare_kernel::work(quantity flops, quantity bytes, arithmetic by) {
  change().work = {.arithmetic = by};
  change().work_by_formulas.emplace(std::move(flops), std::move(bytes));
  return *this;
}

bare_kernel& bare_kernel::measure_by(measuring_function measures) {
  change().measures = std::move(measures);
  return *this;
}

bare_kernel& bare_kernel::limit(const std::string& condition) {
  for (expression& part : expression(condition).parts()) {
    change().limits.push_back(std::move(part));
  }
  return *this;
}

bare_kernel& bare_kernel::metric(std::string name, const std::string& formula, std::string unit) {
  computed_metric made = detail::metric_by_formula(std::move(name), formula, std::move(unit));
  change().search.metrics.computed.push_back(std::move(made));
  const std::vector<std::string> read = expression(formula).names();
  auto& all = change().read_by_metrics;
  all.insert(all.end(), read.begin(), read.end());
  return *this;
}

bare_kernel& bare_kernel::goal(const std::string& text) {
  auto wanted = goal_from_text(text);
  if (!wanted) {
    throw argument_error(
        fmt::format("the goal '{}' is not like 'max gflops, min energy, power <= 100'", text));
  }
  change().goal = *std::move(wanted);
  return *this;
}

bare_kernel& bare_kernel::search(search_defaults defaults) {
  metric_sources metrics = std::move(change().search.metrics);
  change().search = std::move(defaults);
  metric_sources& all = change().search.metrics;
  all.computed.insert(all.computed.begin(), metrics.computed.begin(), metrics.computed.end());
  all.probes.insert(all.probes.begin(), metrics.probes.begin(), metrics.probes.end());
  return *this;
}

bare_kernel& bare_kernel::test_default(configuration works) {
  for (const tune::parameter& each : about_->parameters) {
    if (works.has(each.name)) works.set(each.name, detail::as_candidate(each, works.at(each.name)));
  }
  check_candidates(*about_, works.values());
  change().test_default = std::move(works);
  return *this;
}

bare_kernel& bare_kernel::remember(identity as) {
  check_function_names({as.name, as.version, describe_values(as.key.values()), {}});
  change().remembered = std::move(as);
  return *this;
}

search_space bare_kernel::space() const { return about_->space(); }

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
