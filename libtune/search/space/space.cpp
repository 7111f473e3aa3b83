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

void space_outline::add_parameter(parameter added) { parameters_.push_back(std::move(added)); }

void space_outline::add_restriction(std::string description, std::vector<std::string> reads) {
  if (description.empty()) description = fmt::format("restriction {}", restrictions_.size() + 1);
  restrictions_.push_back({std::move(description), std::move(reads)});
}

search_space space_outline::make_space(combination_factory make_combination) const {
  std::vector<restriction> restrictions;
  for (const named_restriction& item : restrictions_) {
    restrictions.push_back({item.description, nullptr});
    if (!item.reads.empty()) restrictions.back().reads = positions(parameters_, item.reads);
  }
  return search_space(parameters_, std::move(restrictions), std::move(make_combination));
}

bool space_outline::has_defaults(std::span<const named_value> values,
                                 std::span<const named_value> defaults) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool fixed =
        std::ranges::find(parameters_, values[i].name, &parameter::name) == parameters_.end();
    // As text, so that a default of NaN is equal to itself.
    if (fixed && canonical_text(values[i].value) != canonical_text(defaults[i].value)) return false;
  }
  return true;
}

void throw_inexact_candidate(const std::string& field, const value& given) {
  throw argument_error(
      fmt::format("the candidate {} does not fit the type of '{}'", to_string(given), field));
}

}  // namespace tune::detail
