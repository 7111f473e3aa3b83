// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/bare_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/kernel_description.hpp"
#include "libtune/extra/bare/kernel_parameters.hpp"
#include "libtune/tune/autotuner_core.hpp"

namespace tune {
namespace {

using detail::kernel_description;

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
  about.variations.clear();
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

bare_kernel& bare_kernel::reference(const bare_kernel& trusted, const configuration& at,
                                    const tolerance& allowed) {
  change().reference = {trusted.about_, trusted.complete(at), allowed};
  return *this;
}

bare_kernel& bare_kernel::vary(const std::vector<std::size_t>& arguments,
                               const std::vector<input_kind>& kinds) {
  const auto& all = about_->arguments;
  for (const std::size_t argument : arguments) {
    if (argument < all.size() && all[argument].as_array && all[argument].as_array->fill) continue;
    throw argument_error(
        fmt::format("argument {} of the kernel '{}', of {}, is no array with contents that could "
                    "be varied; set the arguments before",
                    argument, about_->defined.name, all.size()));
  }
  for (const input_kind kind : kinds) {
    for (const std::size_t argument : arguments) change().variations.push_back({argument, kind});
  }
  return *this;
}

bare_kernel& bare_kernel::verify(verifier decides) {
  change().verify = std::move(decides);
  return *this;
}

bare_kernel& bare_kernel::report_accuracy() {
  change().reports_accuracy = true;
  return *this;
}

bare_kernel& bare_kernel::vary_alignment(std::size_t bytes) {
  if (!std::has_single_bit(bytes)) {
    throw argument_error(fmt::format(
        "the arrays of the kernel '{}' cannot begin at multiples of {} bytes: give a power of two",
        about_->defined.name, bytes));
  }
  change().alignment = bytes;
  return *this;
}

bare_kernel& bare_kernel::report_bits() {
  change().reports_bits = true;
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
  detail::check_candidates(about_->parameters, works.values());
  change().test_default = std::move(works);
  return *this;
}

bare_kernel& bare_kernel::remember(identity as) {
  check_function_names({as.name, as.version, describe_values(as.key.values()), {}});
  change().remembered = std::move(as);
  return *this;
}

search_space bare_kernel::space() const { return about_->space(); }

}  // namespace tune
