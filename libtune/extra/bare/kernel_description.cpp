// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/kernel_description.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/extra/bare/kernel_parameters.hpp"
#include "libtune/tune/engine/trial_failure.hpp"
#include "libtune/tune/session.hpp"

namespace tune::detail {
namespace {

constexpr std::array axes{'x', 'y', 'z'};

bool is_identifier(const std::string& name) { return std::ranges::all_of(name, is_word); }

// Passes similar configurations to the function in sequence.
restriction restriction_of(const kernel_description::condition& from,
                           const std::vector<parameter>& parameters) {
  std::vector<named_value> first;
  for (const parameter& each : parameters) first.push_back({each.name, each.candidates.front()});
  struct state {
    configuration at;
    std::vector<std::size_t> choice;
  };
  auto kept = std::make_shared<state>(
      state{configuration(std::move(first)), std::vector<std::size_t>(parameters.size(), 0)});
  restriction made{from.description,
                   [kept, parameters, allows = from.allows](std::span<const std::size_t> choice) {
                     for (std::size_t i = 0; i < choice.size(); ++i) {
                       if (choice[i] == kept->choice[i]) continue;
                       kept->choice[i] = choice[i];
                       kept->at.set(parameters[i].name, parameters[i].candidates[choice[i]]);
                     }
                     return allows(kept->at);
                   }};
  if (from.reads.empty()) return made;
  made.reads.emplace();
  for (const std::string& name : from.reads) {
    const auto found = std::ranges::find(parameters, name, &parameter::name);
    if (found == parameters.end()) {
      throw argument_error(fmt::format("the restriction '{}' reads '{}', which is no parameter",
                                       from.description, name));
    }
    made.reads->push_back(static_cast<std::size_t>(found - parameters.begin()));
  }
  return made;
}

// The value as a C++ literal.
std::string literal(const value& v) {
  if (const auto* truth = std::get_if<bool>(&v)) return *truth ? "true" : "false";
  return to_string(v);
}

std::string with_braces_filled(const std::string& name, const configuration& at) {
  std::string filled;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '{') {
      filled += name[i];
      continue;
    }
    const std::size_t end = name.find('}', i);
    if (end == std::string::npos) {
      throw argument_error("the kernel's name '" + name + "' has a brace that is not closed");
    }
    filled += literal(expression(name.substr(i + 1, end - i - 1)).evaluate(at.values()));
    i = end;
  }
  return filled;
}

// Like Kernel Tuner, whose users write a factor of 0 to leave the choice to the compiler. The lines
// stay as empty lines, so that later lines keep their numbers.
std::string without_idle_unrolling(std::string text, const configuration& at) {
  for (const named_value& each : at.values()) {
    if (each.name.find("loop_unroll_factor") == std::string::npos || at[each.name] != 0) continue;
    const std::string pragma = "#pragma unroll " + each.name;
    for (std::size_t i = 0; (i = text.find(pragma, i)) != std::string::npos;) {
      const bool is_whole = i + pragma.size() >= text.size() || !is_word(text[i + pragma.size()]);
      if (is_whole) text.erase(i, pragma.size());
      i += is_whole ? 0 : pragma.size();
    }
  }
  return text;
}

// The state that all configurations of one search share, made after the first compilation.
struct search_workplace {
  explicit search_workplace(const kernel_description& of, const context& context)
      : queue(context.create_tuning_command_queue()), work(queue), expected(of.expected_answer()) {
    of.fill(work);
    of.take_reference(expected, work);
  }

  tuning_command_queue queue;
  workload work;
  answer expected;
  bool fits = false;  // the arguments matched the kernel of a configuration
};

// Contents and answers that do not fit their arrays fit in no configuration.
void make_workplace(std::optional<search_workplace>& made, const kernel_description& of,
                    const context& context) {
  try {
    made.emplace(of, context);
  } catch (const argument_error& mistake) {
    throw common_mistake(mistake.what());
  } catch (const build_error& mistake) {  // of the reference
    throw common_mistake(mistake.what());
  }
}

// Parameters with these names are settings of the device, not macros: the kernel is the same for
// all values.
constexpr std::array setting_names{"graphics_clock_mhz", "memory_clock_mhz", "power_limit_w"};

device_settings settings_of(const configuration& at) {
  const auto value_of = [&](const char* name) {
    constexpr double most = 1e6;  // MHz and watts: more than any device has
    const double number = at.has(name) ? at.number(name) : 0;
    if (number >= 0 && number <= most) return number;
    throw argument_error(fmt::format("'{}' is {}, which is no setting of a device: from 0 to {}",
                                     name, number, most));
  };
  return {.graphics_clock_mhz = static_cast<int>(value_of(setting_names[0])),
          .memory_clock_mhz = static_cast<int>(value_of(setting_names[1])),
          .power_limit_w = value_of(setting_names[2])};
}

// Mistakes in the arguments are the same in all configurations: the first compiled one shows them.
std::shared_ptr<bare_operation> make_operation(const std::shared_ptr<const kernel_description>& of,
                                               const program& compiled, const configuration& at,
                                               search_workplace& in) {
  static_cast<void>(of->grid(at));  // its errors belong to this configuration
  static_cast<void>(of->dynamic_bytes(at));
  try {
    auto op = std::make_shared<bare_operation>(in.queue, of, compiled, at);
    in.work.bind(*op);
    if (!in.fits) kernel_description::set_arrays(*op);
    in.fits = true;
    return op;
  } catch (const argument_error& mistake) {
    if (in.fits) throw;
    throw common_mistake(mistake.what());
  } catch (const device_error& mistake) {
    if (in.fits || mistake.failure() != device_failure::invalid_launch) throw;
    throw common_mistake(mistake.what());
  }
}

measure make_candidate(const std::shared_ptr<const kernel_description>& of, const program& compiled,
                       const configuration& at, search_workplace& in) {
  const device_settings settings = settings_of(at);
  const auto op = make_operation(of, compiled, at, in);
  measure made = of->measures ? of->measures(in.queue, op)
                              : make_measure(in.queue, std::function<void()>([op] { op->run(); }));
  if (made) made.check_runs(make_run_check(op, in.work, in.expected));
  const declared_work& own = made.work();
  if (made && own.bytes == 0 && own.flops == 0) made.work(of->work_of(at));
  if (settings) made.at(settings);
  return made;
}

}  // namespace

std::string kernel_description::slot_name(std::size_t argument) const {
  const std::string& given = arguments[argument].name;
  return given.empty() ? fmt::format("argument_{}", argument) : given;
}

search_space kernel_description::space() const {
  std::vector<restriction> restrictions;
  for (const condition& each : conditions) {
    if (!each.text) {
      restrictions.push_back(restriction_of(each, parameters));
      continue;
    }
    for (restriction& part : each.text->restrictions(parameters)) {
      restrictions.push_back(std::move(part));
    }
  }
  return search_space(parameters, std::move(restrictions));
}

std::optional<resources> kernel_description::needs(const std::vector<named_value>& values) const {
  const configuration at(values);
  const work_size local = work_group(at);
  return resources{.work_group = {local.x, local.y, local.z},
                   .dynamic_local_memory_bytes = dynamic_bytes(at)};
}

bool kernel_description::is_parameter(const std::string& name) const {
  return std::ranges::find(parameters, name, &parameter::name) != parameters.end();
}

const kernel_description::macro* kernel_description::find_macro(const std::string& name) const {
  const auto found = std::ranges::find(macros, name, &macro::name);
  return found == macros.end() ? nullptr : &*found;
}

void kernel_description::check_names(const quantity& of, const std::string& what) const {
  for (const std::string& name : of.names()) {
    if (is_parameter(name)) continue;
    throw argument_error(fmt::format("{} of the kernel '{}' reads '{}', which is no parameter; {}",
                                     what, defined.name, name, list_parameters(parameters)));
  }
}

void kernel_description::check() const {
  for (std::size_t axis = 0; axis < defined.problem_size.size(); ++axis) {
    const quantity& size = defined.problem_size[axis];
    const std::string what = fmt::format("the problem size along {}", axes[axis]);
    check_names(size, what);
    if (size.is_constant() && size.of({}) == 0) {
      throw argument_error(
          fmt::format("{} of the kernel '{}' is 0: there is nothing to run", what, defined.name));
    }
    if (!grid_divisors[axis]) continue;
    for (const quantity& each : *grid_divisors[axis]) {
      check_names(each, fmt::format("a divisor of the grid along {}", axes[axis]));
    }
  }
  if (local_memory) check_names(*local_memory, "the dynamic local memory");
  check_work();
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::string& name = work_group_names[axis];
    if (!is_parameter(name)) check_extent(axis);
  }
}

std::string kernel_description::kernel_name(const configuration& at) const {
  const std::string filled = with_braces_filled(defined.name, at);
  const std::size_t begin = filled.find('<');
  if (begin == std::string::npos) return filled;
  std::string name = filled.substr(0, begin);
  for (std::size_t i = begin; i < filled.size();) {
    std::size_t end = i;
    while (end < filled.size() && is_word(filled[end])) ++end;
    const std::string word = filled.substr(i, end - i);
    name += word.empty() ? std::string(1, filled[i]) : at.has(word) ? literal(at.at(word)) : word;
    i = word.empty() ? i + 1 : end;
  }
  return name;
}

program kernel_description::compile(const context& context, const configuration& at) const {
  const bool is_cuda = context.device().info().language == kernel_language::cuda_cpp;
  const std::string name = kernel_name(at);
  if (!is_cuda && !is_identifier(name)) {
    throw argument_error(
        fmt::format("the kernel's name '{}' is a C++ expression, and OpenCL C, "
                    "which device '{}' compiles, has none",
                    name, context.device().name()));
  }
  kernel_source source = defined.source.of(at, name);
  source.headers.insert(source.headers.end(), defined.headers.begin(), defined.headers.end());
  source.text = without_idle_unrolling(std::move(source.text), at);
  const auto mentions = [&](const std::string& word) {
    return source.text.find(word) != std::string::npos;
  };
  tune::defines with;
  for (const named_value& each : at.values()) {
    if (std::ranges::find(setting_names, each.name) != setting_names.end()) continue;
    with.add(each.name, each.value);
  }
  for (const macro& each : macros) with.add(each.name, each.of(at));
  with.add("kernel_tuner", 1);
  const work_size local = work_group(at);
  const work_size groups = mentions("grid_size_") ? grid(at) : work_size{};
  const std::array extents{local.x, local.y, local.z};
  const std::array counts{groups.x, groups.y, groups.z};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::string count = fmt::format("grid_size_{}", axes[axis]);
    if (mentions(count)) with.add(count, static_cast<std::int64_t>(counts[axis]));
    const std::string& extent = work_group_names[axis];
    const bool is_defined = extent.empty() || at.has(extent) || find_macro(extent) != nullptr;
    if (!is_defined && !is_whole_text(extent) && mentions(extent)) {
      with.add(extent, static_cast<std::int64_t>(extents[axis]));
    }
  }
  compile_options options{.flags = defined.flags};
  if (is_cuda && (mentions("__global__") || !is_identifier(name))) options.kernels = {name};
  return tune::compile(context, source, with, options);
}

std::optional<std::string> kernel_description::why_not(const std::vector<metric>& figures) const {
  for (const expression& limit : limits) {
    std::vector<named_value> known;
    for (const std::string& name : limit.names()) {
      const metric* figure = find_metric(figures, name);
      if (figure == nullptr || std::isnan(figure->value)) continue;
      known.push_back({name, figure->value});
    }
    if (known.size() < limit.names().size() || limit.holds(known)) continue;
    return fmt::format("{}, and '{}' is asked for", to_string(known), limit.text());
  }
  return std::nullopt;
}

search_problem make_problem(std::shared_ptr<const kernel_description> of, const context& context) {
  of->check();
  const search_space space = of->space();
  auto workplace = std::make_shared<std::optional<search_workplace>>();
  return {.space = space,
          .configuration = [space](std::size_t index) { return space.values(index); },
          .needs = [space, of](std::size_t index) { return of->needs(space.values(index)); },
          .generate = [space, of, context, workplace](std::size_t index) -> measure {
            const configuration at(space.values(index));
            if (of->grid(at).total() == 0) {
              throw argument_error(fmt::format("the problem size of the kernel '{}' is 0 for {}",
                                               of->defined.name, to_string(at.values())));
            }
            const program compiled = of->compile(context, at);
            if (!*workplace) make_workplace(*workplace, *of, context);
            return make_candidate(of, compiled, at, **workplace);
          },
          .find = [space](const std::vector<named_value>& values) { return space.find(values); },
          .contains = [space](const std::vector<named_value>& v) { return space.contains(v); },
          .needs_of = [of](const std::vector<named_value>& values) { return of->needs(values); },
          .metrics = of->search.metrics,
          .why_not = [of](const std::vector<metric>& figures) { return of->why_not(figures); }};
}

}  // namespace tune::detail
