// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Tuners: kernels, and functions of the caller that measure, with their spaces.
#include <fmt/format.h>
#include <span>

#include "libtune/base/error.hpp"
#include "libtune/bindings/c/handles.hpp"
#include "libtune/extra/bare/expression.hpp"
#include "libtune/extra/bare/kernel_parameters.hpp"

namespace tune::c_api {
namespace {

tune::tolerance tolerance_of(double absolute, double relative) {
  tune::tolerance allowed;
  if (absolute >= 0) allowed.absolute = absolute;
  if (relative >= 0) allowed.relative = relative;
  return allowed;
}

void require_access(libtune_access access) {
  if (access == LIBTUNE_IN || access == LIBTUNE_OUT || access == LIBTUNE_INOUT) return;
  throw argument_error(fmt::format("an array has LIBTUNE_IN, LIBTUNE_OUT or LIBTUNE_INOUT, not {}",
                                   static_cast<int>(access)));
}

/// The caller's contents as an argument.
kernel_argument array_of(libtune_access access, const element_type& type, const shape& size,
                         const void* contents, const std::string& name) {
  require_access(access);
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
    static_cast<void>(expression(text));  // throws if invalid
    made.emplace_back(text);
  }
  return made;
}

arithmetic arithmetic_of(const char* name) {
  if (name == nullptr) return arithmetic::undeclared;
  if (const auto known = arithmetic_from_name(name)) return *known;
  throw argument_error(
      fmt::format("there is no arithmetic '{}': declare float32, float64, float16, int32, "
                  "tensor_float16, tensor_tf32 or tensor_int8",
                  name));
}

kernel_text text_by(callback<libtune_source_function> by) {
  return kernel_text([by](const configuration& at) {
    const value_list values(at.values());
    const char* text = nullptr;
    clear_last_error();
    const libtune_status status = by.function(by.user, values.data(), values.size(), &text);
    if (status != LIBTUNE_OK) throw_failed(status, "the function that makes the text failed");
    static_cast<void>(required(text, "the text of a kernel"));
    return std::string(text);
  });
}

}  // namespace
}  // namespace tune::c_api

using tune::c_api::give;
using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;
using tune::c_api::text_of;

libtune_status libtune_tuner_create(const char* name, libtune_tuner** tuner) {
  return giving(tuner, [&] {
    give(tuner,
         tune::bare_kernel::definition{
             .name = text_of(&required(name, "the name")), .source = "", .problem_size = {1}},
         false);
  });
}

libtune_status libtune_tuner_create_kernel(const char* name, const char* source,
                                           const char* const* problem_size, size_t axes,
                                           libtune_tuner** tuner) {
  return giving(tuner, [&] {
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
      // Candidates in the same form as in C++.
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
      tune::c_api::throw_failed(status, "the function of a restriction failed");
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
    auto made = tune::detail::metric_by_formula(text_of(name), text_of(formula), text_of(unit));
    std::vector<tune::metric> trial_run;
    set_metric(trial_run, {.name = made.name});  // throws if invalid
    if (!of.is_kernel) {
      of.metrics.push_back(std::move(made));
      const tune::expression read(text_of(formula));
      for (const std::string& name_read : read.names()) of.read_by_metrics.push_back(name_read);
      return;
    }
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

libtune_status libtune_tuner_work(libtune_tuner* tuner, const char* flops, const char* bytes,
                                  const char* arithmetic) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    const auto amount = [](const char* text) {
      return text == nullptr ? tune::quantity(0) : tune::c_api::quantities(&text, 1).front();
    };
    const auto by = tune::c_api::arithmetic_of(arithmetic);
    of.add([operations = amount(flops), moved = amount(bytes), by](tune::bare_kernel& kernel) {
      kernel.work(operations, moved, by);
    });
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
    tune::c_api::require_access(access);
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
    const tune::tolerance allowed = tune::c_api::tolerance_of(absolute, relative);
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

libtune_status libtune_tuner_reference(libtune_tuner* tuner, const libtune_tuner* reference,
                                       const libtune_named_value* configuration, size_t count,
                                       double absolute, double relative) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    const auto& trusted = required(reference, "the reference");
    trusted.require_kernel();
    const tune::configuration at(tune::c_api::to_values(configuration, count));
    of.add([trusted = trusted.kernel, at, allowed = tune::c_api::tolerance_of(absolute, relative)](
               tune::bare_kernel& kernel) { kernel.reference(trusted, at, allowed); });
  });
}

libtune_status libtune_tuner_vary(libtune_tuner* tuner, size_t argument, const char* kind) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    const tune::input_kind made = tune::input_kind_from_name(text_of(kind));
    const libtune_tuner::step step = [argument, made](tune::bare_kernel& kernel) {
      kernel.vary({argument}, {made});
    };
    step(of.kernel);
    of.answers.push_back(step);
  });
}

libtune_status libtune_tuner_report_accuracy(libtune_tuner* tuner) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    of.add([](tune::bare_kernel& kernel) { kernel.report_accuracy(); });
  });
}

libtune_status libtune_tuner_report_bits(libtune_tuner* tuner) {
  return guarded([&] {
    auto& of = required(tuner, "the tuner");
    of.require_kernel();
    of.add([](tune::bare_kernel& kernel) { kernel.report_bits(); });
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
        if (status == LIBTUNE_STOPPED) tune::c_api::throw_failed(status, "it ended the tuning");
        return tune::c_api::callback_reason(status, "the function that verifies refused it");
      });
    });
  });
}

libtune_status libtune_tuner_destroy(libtune_tuner* tuner) { return tune::c_api::destroy(tuner); }
