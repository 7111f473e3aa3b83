// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/space.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

std::vector<std::size_t> positions(const std::vector<parameter>& parameters,
                                   const std::vector<std::string>& names) {
  std::vector<std::size_t> found;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(parameters, name, &parameter::name);
    if (at == parameters.end()) continue;
    found.push_back(static_cast<std::size_t>(at - parameters.begin()));
  }
  return found;
}

}  // namespace

/// The functions that know the struct. Shared with the search_space, so never modified.
struct erased_space::functions {
  std::shared_ptr<const void> defaults;
  copy_function copy;
  std::vector<setter> setters;  // for each parameter
  std::vector<predicate> restrictions;
};

struct erased_space::state {
  struct named_restriction {
    std::string description;
    std::vector<std::string> reads;
  };

  std::shared_ptr<const erased_space::functions> functions;
  std::vector<parameter> parameters;
  std::vector<named_restriction> restrictions;
  search_space core{{}};
};

erased_space::erased_space(std::shared_ptr<const void> defaults, copy_function copy)
    : state_(std::make_shared<const state>(
          state{std::make_shared<const functions>(functions{std::move(defaults), copy, {}, {}}),
                {},
                {}})) {}

erased_space::erased_space(const erased_space&) noexcept = default;
erased_space::erased_space(erased_space&&) noexcept = default;
erased_space& erased_space::operator=(const erased_space&) noexcept = default;
erased_space& erased_space::operator=(erased_space&&) noexcept = default;
erased_space::~erased_space() = default;

void erased_space::add(parameter added, setter set) {
  state changed = *state_;
  changed.parameters.push_back(std::move(added));
  auto its_functions = std::make_shared<functions>(*changed.functions);
  its_functions->setters.push_back(std::move(set));
  changed.functions = std::move(its_functions);
  commit(std::move(changed));
}

void erased_space::restrict(std::string description, std::vector<std::string> reads,
                            predicate allows) {
  state changed = *state_;
  if (description.empty()) {
    description = fmt::format("restriction {}", changed.restrictions.size() + 1);
  }
  changed.restrictions.push_back({std::move(description), std::move(reads)});
  auto its_functions = std::make_shared<functions>(*changed.functions);
  its_functions->restrictions.push_back(std::move(allows));
  changed.functions = std::move(its_functions);
  commit(std::move(changed));
}

void erased_space::commit(state changed) {
  std::vector<restriction> restrictions;
  for (const state::named_restriction& item : changed.restrictions) {
    restrictions.push_back({item.description, nullptr});
    if (!item.reads.empty()) restrictions.back().reads = positions(changed.parameters, item.reads);
  }
  const auto make_combination = [functions = changed.functions]() -> combination {
    const std::shared_ptr<void> tuning = functions->copy(functions->defaults.get());
    return {
        [functions, tuning](std::size_t i, std::size_t to) {
          functions->setters[i](tuning.get(), to);
        },
        [functions, tuning](std::size_t i) { return functions->restrictions[i](tuning.get()); }};
  };
  changed.core = search_space(changed.parameters, std::move(restrictions), make_combination);
  state_ = std::make_shared<const state>(std::move(changed));
}

const void* erased_space::defaults() const noexcept { return state_->functions->defaults.get(); }

void erased_space::choose(void* tuning, std::size_t index) const {
  const std::vector<std::size_t> choice = core().choice(index);
  for (std::size_t i = 0; i < choice.size(); ++i) state_->functions->setters[i](tuning, choice[i]);
}

bool erased_space::has_defaults(std::span<const named_value> values,
                                std::span<const named_value> defaults) const {
  const auto& all = state_->parameters;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool fixed = std::ranges::find(all, values[i].name, &parameter::name) == all.end();
    // Compared as text, so that a default of NaN equals itself.
    if (fixed && canonical_text(values[i].value) != canonical_text(defaults[i].value)) return false;
  }
  return true;
}

std::optional<std::size_t> erased_space::find(std::span<const named_value> values,
                                              std::span<const named_value> defaults) const {
  return has_defaults(values, defaults) ? core().find(values) : std::nullopt;
}

bool erased_space::contains(std::span<const named_value> values,
                            std::span<const named_value> defaults) const {
  return has_defaults(values, defaults) && core().contains(values);
}

const search_space& erased_space::core() const noexcept { return state_->core; }

void add_candidate(parameter& to, value added) { to.candidates.push_back(std::move(added)); }

std::optional<std::string> why_outside(const std::vector<metric>& figures, std::string_view name,
                                       figure_range range) {
  const metric* const found = find_metric(figures, name);
  if (found == nullptr || !(found->value < range.least || found->value > range.most)) {
    return std::nullopt;
  }
  const bool is_low = found->value < range.least;
  return fmt::format("{} = {:g}{}, and may be {} {:g}", name, found->value,
                     found->unit.empty() ? "" : " " + found->unit, is_low ? "at least" : "at most",
                     is_low ? range.least : range.most);
}

void throw_inexact_candidate(const std::string& field, const value& given) {
  throw argument_error(
      fmt::format("the candidate {} does not fit the type of '{}'", to_string(given), field));
}

}  // namespace tune::detail
