// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Tuning of kernels and of functions of the caller.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <span>

#include "libtune/base/error.hpp"
#include "libtune/c_api/handles.hpp"
#include "libtune/search/space/expression.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/session.hpp"

namespace tune::c_api {
namespace {

/// True once the caller wants the tuning to end: then nothing more is prepared.
using stop_flag = std::shared_ptr<std::atomic<bool>>;

void throw_if(const stop_flag& stopped) {
  if (*stopped) throw error("not tried, because the caller has ended the tuning");
}

/// Keeps the trials of the last search, and reports each to the caller.
class trial_listener final : public observer {
 public:
  trial_listener(callback<libtune_trial_function> hears, stop_flag stopped)
      : hears_(hears), stopped_(std::move(stopped)) {}

  void trial_finished(const tuning_subject&, const trial& made) override {
    if (hears_.function == nullptr || *stopped_) return;
    const value_list values(made.configuration);
    const double time = made.score ? made.score->count() : std::numeric_limits<double>::quiet_NaN();
    const libtune_status status =
        hears_.function(hears_.user, values.data(), values.size(),
                        std::string(outcome_name(made.outcome)).c_str(), made.reason.c_str(), time);
    if (status != LIBTUNE_OK) *stopped_ = true;
  }
  void search_finished(const search_finished_event& event) override { trials_ = event.trials; }
  std::vector<trial> take() { return std::move(trials_); }

 private:
  callback<libtune_trial_function> hears_;
  stop_flag stopped_;
  std::vector<trial> trials_;
};

/// One configuration that a function of the caller measures. Its first call is made when it is
/// generated, so that it can be skipped; the time of it is that of the first run.
measure measured_by(callback<libtune_measure_function> by, const stop_flag& stopped,
                    const std::vector<named_value>& configuration) {
  throw_if(stopped);
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
  if (status != LIBTUNE_OK)
    throw error(callback_reason(status, "the function that measures failed"));
  auto kept = std::make_shared<std::optional<double>>(first);
  return make_measure([call, kept, stopped](int iterations) {
    throw_if(stopped);
    if (iterations == 1 && *kept) return *std::exchange(*kept, std::nullopt);
    double seconds = 0;
    const libtune_status again = call(iterations, seconds);
    if (again == LIBTUNE_OK) return seconds;
    throw error(callback_reason(again, "the function that measures failed"));
  });
}

value_type type_of(const value& v) {
  if (std::holds_alternative<bool>(v)) return value_type::boolean;
  if (std::holds_alternative<std::int64_t>(v)) return value_type::int64;
  if (std::holds_alternative<std::uint64_t>(v)) return value_type::uint64;
  if (std::holds_alternative<double>(v)) return value_type::float64;
  return value_type::string;
}

computed_metric make_metric(const std::string& name, const std::string& formula,
                            const std::string& unit) {
  const auto compute = [of = expression(formula)](const trial& t) {
    const configuration at(t.configuration);
    std::vector<named_value> values;
    for (const std::string& each : of.names()) {
      values.push_back({each, at.has(each) ? at.at(each) : value(metric_value(t, each))});
    }
    return of.number(values);
  };
  return {.name = name, .compute = compute, .unit = unit};
}

}  // namespace
}  // namespace tune::c_api

struct libtune_tuner {
  using step = std::function<void(tune::bare_kernel&)>;

  libtune_tuner(tune::bare_kernel::definition its_definition, bool of_kernel)
      : defined(std::move(its_definition)), is_kernel(of_kernel), kernel(stoppable(defined)) {}

  /// Does a step now, for its errors, and again where the kernel is defined anew.
  void add(step does) {
    does(kernel);
    steps.push_back(std::move(does));
  }

  void redefine(const std::function<void(tune::bare_kernel::definition&)>& change) {
    require_kernel();
    auto changed = defined;
    change(changed);
    tune::bare_kernel made(stoppable(changed));
    for (const step& each : steps) each(made);
    made.set_arguments(arguments);
    for (const step& each : answers) each(made);
    defined = std::move(changed);
    kernel = std::move(made);
  }

  /// The same, but nothing more is compiled once the tuning has been ended.
  tune::bare_kernel::definition stoppable(tune::bare_kernel::definition of) const {
    of.source = tune::kernel_text(
        [text = of.source, name = of.name, stopped = stopped](const tune::configuration& at) {
          tune::c_api::throw_if(stopped);
          return text.of(at, name).text;
        });
    return of;
  }

  void add_argument(tune::kernel_argument added) {
    require_kernel();
    if (!answers.empty()) {
      throw tune::argument_error("an argument of the kernel '" + defined.name +
                                 "' is given after an answer; give all arguments first");
    }
    arguments.push_back(std::move(added));
    kernel.set_arguments(arguments);
  }

  void require_kernel() const {
    if (is_kernel) return;
    throw tune::argument_error("the tuner '" + defined.name +
                               "' has no kernel: a function measures its configurations");
  }

  tune::tuning_options options_in(const tune::context& context) const {
    tune::tuning_options made = *tuning_options_of(context);
    for (const auto& [name, text] : options) {
      tune::c_api::set_option(made, name, text ? text->c_str() : nullptr);
    }
    return made;
  }

  tune::c_api::stop_flag stopped = std::make_shared<std::atomic<bool>>(false);
  tune::bare_kernel::definition defined;
  bool is_kernel;
  tune::bare_kernel kernel;  // of a function: its space alone
  std::vector<step> steps{};
  std::vector<tune::kernel_argument> arguments{};
  std::vector<step> answers{};
  std::vector<std::pair<std::string, std::optional<std::string>>> options{};
  // Of a function.
  tune::c_api::callback<libtune_measure_function> measures{};
  std::vector<tune::computed_metric> metrics{};
  std::optional<tune::bare_kernel::identity> remembered{};

  tune::c_api::callback<libtune_trial_function> hears{};
};

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

  std::optional<tune::tuned_kernel> kernel;  // none: a function was tuned
  tune::c_api::value_list best;
  std::vector<tune::trial> trials;
  std::optional<tune::run_time> time{};
};

namespace tune::c_api {
namespace {

search_problem make_problem(const libtune_tuner& of) {
  const search_space space = of.kernel.space();
  return {
      .space = space,
      .configuration = [space](std::size_t index) { return space.values(index); },
      .needs = [](std::size_t) -> std::optional<resources> { return std::nullopt; },
      .generate = [space, by = of.measures, stopped = of.stopped](
                      std::size_t index) { return measured_by(by, stopped, space.values(index)); },
      .find = [space](const std::vector<named_value>& values) { return space.find(values); },
      .metrics = {.computed = of.metrics, .probes = {}}};
}

std::vector<named_value> first_of_each(const search_space& space) {
  std::vector<named_value> values;
  values.reserve(space.parameters().size());
  for (const parameter& each : space.parameters()) {
    values.push_back({each.name, each.candidates.front()});
  }
  return values;
}

std::vector<field_description> fields_of(const std::vector<named_value>& values) {
  std::vector<field_description> fields;
  for (const named_value& each : values) fields.push_back({each.name, type_of(each.value)});
  return fields;
}

/// The parts of an autotuner of a function of the caller.
detail::autotuner_parts parts_of(const libtune_tuner& of) {
  const search_space space = of.kernel.space();
  const std::vector<named_value> first = first_of_each(space);
  return {.name = of.remembered->name,
          .version = of.remembered->version,
          .key_fields = fields_of(of.remembered->key.values()),
          .tuning_fields = fields_of(first),
          .test_default = space.size() == 0 ? first : space.values(0),
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

/// Contents of the caller as an argument.
kernel_argument array_of(libtune_access access, const element_type& type, const shape& size,
                         const void* contents, const std::string& name) {
  if (access == LIBTUNE_OUT) return {name, kernel_argument::array{type, size}, {}};
  return visit_element(type, [&]<class T>() -> kernel_argument {
    const std::size_t count = size.elements();
    const T& first = required(static_cast<const T*>(contents), "the contents of an array");
    const host_array<T> copy(host_array<T>::wrap_const({&first, count}, size));
    return access == LIBTUNE_IN ? in(copy, name) : inout(copy, name);
  });
}

shape shape_of(const size_t* extents, std::size_t rank) {
  if (rank > 0) static_cast<void>(required(extents, "the shape"));
  return shape(std::span<const std::size_t>(extents, rank));
}

std::vector<quantity> quantities(const char* const* texts, std::size_t count) {
  std::vector<quantity> made;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const each = (&required(texts, "the list of expressions"))[i];
    const std::string text = text_of(&required(each, "an expression"));
    static_cast<void>(expression(text));  // for its errors
    made.emplace_back(text);
  }
  return made;
}

kernel_text text_by(callback<libtune_source_function> by) {
  return kernel_text([by](const configuration& at) {
    const value_list values(at.values());
    const char* text = nullptr;
    clear_last_error();
    const libtune_status status = by.function(by.user, values.data(), values.size(), &text);
    if (status != LIBTUNE_OK) {
      throw error(callback_reason(status, "the function that makes the text failed"));
    }
    static_cast<void>(required(text, "the text of a kernel"));
    return std::string(text);
  });
}

void add_metrics(const trial& of, const std::set<std::string>& taken, table_builder& table) {
  for (const metric& m : of.metrics) table.set(apart_from(taken, "metric_", m.name), m.value);
}

}  // namespace
}  // namespace tune::c_api

using tune::c_api::give;
using tune::c_api::guarded;
using tune::c_api::required;
using tune::c_api::text_of;

libtune_status libtune_tuner_create(const char* name, libtune_tuner** tuner) {
  return guarded([&] {
    give(tuner,
         tune::bare_kernel::definition{
             .name = text_of(&required(name, "the name")), .source = "", .problem_size = {1}},
         false);
  });
}

libtune_status libtune_tuner_create_kernel(const char* name, const char* source,
                                           const char* const* problem_size, size_t axes,
                                           libtune_tuner** tuner) {
  return guarded([&] {
    give(tuner,
         tune::bare_kernel::definition{.name = text_of(&required(name, "the name of the kernel")),
                                       .source = text_of(source),
                                       .problem_size = tune::c_api::quantities(problem_size, axes)},
         true);
  });
}

libtune_status libtune_tuner_parameter(libtune_tuner* tuner, const char* name,
                                       const libtune_value* candidates, size_t count) {
  return guarded([&] {
    std::vector<tune::value> values;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(tune::c_api::to_value((&required(candidates, "the candidates"))[i]));
      // As candidates are given in C++.
      const auto* natural = std::get_if<std::uint64_t>(&values.back());
      if (natural != nullptr && std::in_range<std::int64_t>(*natural)) {
        values.back() = static_cast<std::int64_t>(*natural);
      }
    }
    required(tuner, "the tuner").add([name = text_of(name), values](tune::bare_kernel& kernel) {
      kernel.parameter(name, values);
    });
  });
}

libtune_status libtune_tuner_restrict(libtune_tuner* tuner, const char* expression) {
  return guarded([&] {
    required(tuner, "the tuner").add([text = text_of(expression)](tune::bare_kernel& kernel) {
      kernel.restrict(text);
    });
  });
}

libtune_status libtune_tuner_restrict_by(libtune_tuner* tuner,
                                         libtune_restriction_function function, void* user,
                                         const char* description) {
  return guarded([&] {
    if (function == nullptr) throw tune::argument_error("the function of a restriction is null");
    const auto allows = [function, user](const tune::configuration& at) {
      const tune::c_api::value_list values(at.values());
      int allowed = 0;
      tune::c_api::clear_last_error();
      const libtune_status status = function(user, values.data(), values.size(), &allowed);
      if (status == LIBTUNE_OK) return allowed != 0;
      throw tune::error(
          tune::c_api::callback_reason(status, "the function of a restriction failed"));
    };
    required(tuner, "the tuner")
        .add([allows, text = text_of(description)](tune::bare_kernel& kernel) {
          kernel.restrict(allows, text);
        });
  });
}

libtune_status libtune_tuner_metric(libtune_tuner* tuner, const char* name, const char* formula,
                                    const char* unit) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    auto made = tune::c_api::make_metric(text_of(name), text_of(formula), text_of(unit));
    std::vector<tune::metric> trial_run;
    set_metric(trial_run, {.name = made.name});  // for its errors
    if (!of.is_kernel) return of.metrics.push_back(std::move(made));
    of.add([name = text_of(name), formula = text_of(formula), unit = text_of(unit)](
               tune::bare_kernel& kernel) { kernel.metric(name, formula, unit); });
  });
}

libtune_status libtune_tuner_set_option(libtune_tuner* tuner, const char* name, const char* value) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    tune::tuning_options tried;  // for its errors
    tune::c_api::set_option(tried, text_of(name), value);
    of.options.emplace_back(text_of(name),
                            value == nullptr ? std::nullopt : std::optional<std::string>(value));
  });
}

libtune_status libtune_tuner_remember(libtune_tuner* tuner, const char* name, int version,
                                      const libtune_named_value* key, size_t key_count) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    const tune::bare_kernel::identity as{
        text_of(name), version, tune::configuration(tune::c_api::to_values(key, key_count))};
    of.add([as](tune::bare_kernel& kernel) { kernel.remember(as); });
    of.remembered = as;
  });
}

libtune_status libtune_tuner_measure_by(libtune_tuner* tuner, libtune_measure_function function,
                                        void* user) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    if (of.is_kernel) {
      throw tune::argument_error("the tuner '" + of.defined.name +
                                 "' measures a kernel; libtune_tuner_create makes one that a "
                                 "function measures");
    }
    of.measures = {function, user};
  });
}

libtune_status libtune_tuner_on_trial(libtune_tuner* tuner, libtune_trial_function function,
                                      void* user) {
  return guarded([&] { required(tuner, "the tuner").hears = {function, user}; });
}

libtune_status libtune_tuner_source_by(libtune_tuner* tuner, libtune_source_function function,
                                       void* user) {
  return guarded([&] {
    if (function == nullptr) throw tune::argument_error("the function of the text is null");
    required(tuner, "the tuner").redefine([&](tune::bare_kernel::definition& of) {
      of.source = tune::c_api::text_by({function, user});
    });
  });
}

libtune_status libtune_tuner_header(libtune_tuner* tuner, const char* name, const char* text) {
  return guarded([&] {
    required(tuner, "the tuner").redefine([&](tune::bare_kernel::definition& of) {
      of.headers.push_back({text_of(name), text_of(text)});
    });
  });
}

libtune_status libtune_tuner_flag(libtune_tuner* tuner, const char* flag) {
  return guarded([&] {
    required(tuner, "the tuner").redefine([&](tune::bare_kernel::definition& of) {
      of.flags.push_back(text_of(flag));
    });
  });
}

libtune_status libtune_tuner_define(libtune_tuner* tuner, const char* name,
                                    const libtune_value* text) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    const tune::value v = tune::c_api::to_value(required(text, "the value of a macro"));
    of.add([name = text_of(name), v](tune::bare_kernel& kernel) { kernel.define(name, v); });
  });
}

libtune_status libtune_tuner_work_group(libtune_tuner* tuner, const char* x, const char* y,
                                        const char* z) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    of.add([x = text_of(x), y = text_of(y), z = text_of(z)](tune::bare_kernel& kernel) {
      kernel.work_group(x, y, z);
    });
  });
}

libtune_status libtune_tuner_divide_grid(libtune_tuner* tuner, int axis,
                                         const char* const* divisors, size_t count) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    const auto by = tune::c_api::quantities(divisors, count);
    if (axis < 0 || axis > 2) {
      throw tune::argument_error("a grid has no axis " + std::to_string(axis) + ", only 0 to 2");
    }
    of.add([axis, by](tune::bare_kernel& kernel) {
      if (axis == 0) kernel.divide_grid_x(by);
      if (axis == 1) kernel.divide_grid_y(by);
      if (axis == 2) kernel.divide_grid_z(by);
    });
  });
}

libtune_status libtune_tuner_local_memory(libtune_tuner* tuner, const char* bytes) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    const auto amount = tune::c_api::quantities(&bytes, 1).front();
    of.add([amount](tune::bare_kernel& kernel) { kernel.local_memory(amount); });
  });
}

libtune_status libtune_tuner_limit(libtune_tuner* tuner, const char* expression) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    of.add([text = text_of(expression)](tune::bare_kernel& kernel) { kernel.limit(text); });
  });
}

libtune_status libtune_tuner_array(libtune_tuner* tuner, libtune_access access, const char* type,
                                   const size_t* shape, size_t rank, const void* contents,
                                   const char* name) {
  return guarded([&] {
    required(tuner, "the tuner")
        .add_argument(tune::c_api::array_of(access, tune::c_api::element_type_of(type),
                                            tune::c_api::shape_of(shape, rank), contents,
                                            text_of(name)));
  });
}

libtune_status libtune_tuner_device_array(libtune_tuner* tuner, libtune_access access,
                                          const char* type, const size_t* shape, size_t rank,
                                          const libtune_buffer* contents, const char* name) {
  return guarded([&] {
    const tune::device_array array(
        required(contents, "the buffer").buffer,
        {tune::c_api::element_type_of(type), tune::c_api::shape_of(shape, rank)});
    auto& of = required(tuner, "the tuner");
    switch (access) {
      case LIBTUNE_IN: return of.add_argument(tune::in(array, text_of(name)));
      case LIBTUNE_OUT: return of.add_argument(tune::out(array, text_of(name)));
      default: return of.add_argument(tune::inout(array, text_of(name)));
    }
  });
}

libtune_status libtune_tuner_scalar(libtune_tuner* tuner, const void* bytes, size_t count) {
  return guarded([&] {
    const auto* first = &required(static_cast<const std::byte*>(bytes), "the value of an argument");
    tune::kernel_argument made;
    made.bytes.assign(first, first + count);
    required(tuner, "the tuner").add_argument(std::move(made));
  });
}

libtune_status libtune_tuner_constant(libtune_tuner* tuner, const char* name, const void* bytes,
                                      size_t count) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    const auto* first = &required(static_cast<const std::uint8_t*>(bytes), "the bytes");
    const std::vector<std::uint8_t> copy(first, first + count);
    of.add(
        [name = text_of(name), copy](tune::bare_kernel& kernel) { kernel.constant(name, copy); });
  });
}

libtune_status libtune_tuner_answer(libtune_tuner* tuner, size_t argument, const void* expected,
                                    double absolute, double relative) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    if (argument >= of.arguments.size() || !of.arguments[argument].as_array) {
      throw tune::argument_error(
          fmt::format("argument {} of the kernel '{}', which has {}, is no array: give the "
                      "arguments before the answers",
                      argument, of.defined.name, of.arguments.size()));
    }
    tune::tolerance allowed;
    if (absolute >= 0) allowed.absolute = absolute;
    if (relative >= 0) allowed.relative = relative;
    const auto& array = *of.arguments[argument].as_array;
    auto step = tune::c_api::visit_element(array.type, [&]<class T>() -> libtune_tuner::step {
      const T& first = required(static_cast<const T*>(expected), "the expected contents");
      auto kept = std::make_shared<const tune::host_array<T>>(
          tune::host_array<T>::wrap_const({&first, array.size.elements()}, array.size));
      return [argument, kept, allowed](tune::bare_kernel& kernel) {
        kernel.answer(argument, *kept, allowed);
      };
    });
    step(of.kernel);
    of.answers.push_back(std::move(step));
  });
}

libtune_status libtune_tuner_verify_by(libtune_tuner* tuner, libtune_verify_function function,
                                       void* user) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    if (function == nullptr) throw tune::argument_error("the function that verifies is null");
    of.add([function, user](tune::bare_kernel& kernel) {
      kernel.verify([=](const tune::kernel_results& results) -> std::optional<std::string> {
        libtune_results handle{results};
        tune::c_api::clear_last_error();
        const libtune_status status = function(user, &handle);
        if (status == LIBTUNE_OK) return std::nullopt;
        return tune::c_api::callback_reason(status, "the function that verifies refused it");
      });
    });
  });
}

libtune_status libtune_tuner_run(libtune_tuner* tuner, const libtune_context* context,
                                 const libtune_named_value* configuration, size_t count,
                                 libtune_results** results) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    give(results, of.kernel.run(required(context, "the context").context,
                                tune::configuration(tune::c_api::to_values(configuration, count))));
  });
}

libtune_status libtune_tuner_tune(libtune_tuner* tuner, const libtune_context* context,
                                  libtune_tuned** tuned) {
  const auto tune_it = [&] {
    const auto& of = required(tuner, "the tuner");
    const tune::context& in = required(context, "the context").context;
    tune::tuning_options options = of.options_in(in);
    *of.stopped = false;
    const auto listener = std::make_shared<tune::c_api::trial_listener>(of.hears, of.stopped);
    options.observers.push_back(listener);
    if (of.is_kernel) {
      tune::tuned_kernel made = of.kernel.tune(in, options);
      tune::c_api::throw_if(of.stopped);
      const tune::configuration best = made.best();
      std::vector<tune::trial> trials = made.trials();
      return give(tuned, std::move(made), best, std::move(trials));
    }
    const tune::configuration best = tune::c_api::find_best(of, in, options);
    tune::c_api::throw_if(of.stopped);
    give(tuned, std::nullopt, best, listener->take());
  };
  const libtune_status status = guarded(tune_it);
  if (status == LIBTUNE_OK || tuner == nullptr || !*tuner->stopped) return status;
  *tuner->stopped = false;
  libtune_set_last_error("the caller has ended the tuning");
  return LIBTUNE_STOPPED;
}

libtune_status libtune_tuner_destroy(libtune_tuner* tuner) { return tune::c_api::destroy(tuner); }

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
  return guarded([&] {
    const auto& of = required(tuned, "what was tuned");
    const std::set<std::string> facts{"outcome",        "message",        "score_ns",
                                      "score_lower_ns", "score_upper_ns", "samples_ns",
                                      "preparation_ns", "elapsed_ns"};
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
      made.set("preparation_ns", std::int64_t{each.preparation.count()});
      made.set("elapsed_ns", std::int64_t{each.elapsed.count()});
      tune::c_api::add_metrics(each, taken, made);
    }
    std::move(made).give(table);
  });
}

libtune_status libtune_tuned_instantiate(const libtune_tuned* tuned, const libtune_queue* queue,
                                         libtune_operation** operation) {
  return guarded([&] {
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
  return guarded([&] {
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
