// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/simulate/recording_builder.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tune::detail {
namespace {

std::vector<value> occurring(const std::vector<recorded_configuration>& recorded, std::size_t at) {
  std::vector<value> found;
  for (const auto& item : recorded) {
    if (std::ranges::find(found, item.values[at]) == found.end()) found.push_back(item.values[at]);
  }
  const bool numbers = std::ranges::none_of(
      found, [](const value& v) { return std::holds_alternative<std::string>(v); });
  // All are of one kind, as in every file that names its parameters.
  if (numbers) std::ranges::sort(found);
  return found;
}

}  // namespace

recording_builder::recording_builder(std::vector<parameter> parameters)
    : parameters_(std::move(parameters)) {}

void recording_builder::add(recorded_configuration one) { recorded_.push_back(std::move(one)); }

recorded_space recording_builder::build(std::string name) && {
  std::map<std::string, std::size_t> latest;
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    std::string key;
    for (const value& v : recorded_[i].values) key += canonical_text(v) + ',';
    latest[key] = i;
  }
  std::vector<recorded_configuration> once;
  for (const auto& [key, i] : latest) once.push_back(std::move(recorded_[i]));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].candidates.empty()) parameters_[i].candidates = occurring(once, i);
  }
  return recorded_space(std::move(name), std::move(parameters_), std::move(once));
}

}  // namespace tune::detail
