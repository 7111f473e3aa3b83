// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/recorded_space.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <numeric>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

/// Positions in the Cartesian product, ascending.
using positions = std::vector<std::size_t>;

std::size_t candidate_of(const parameter& item, const value& wanted) {
  const auto found = std::ranges::find(item.candidates, wanted);
  if (found == item.candidates.end()) {
    throw argument_error(fmt::format("a recorded configuration has {}={}, which is no candidate",
                                     item.name, to_string(wanted)));
  }
  return static_cast<std::size_t>(found - item.candidates.begin());
}

std::size_t position_of(const std::vector<parameter>& parameters,
                        const std::vector<value>& values) {
  if (values.size() != parameters.size()) {
    throw argument_error(fmt::format("a recorded configuration has {} values for {} parameters",
                                     values.size(), parameters.size()));
  }
  std::size_t position = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    position = position * parameters[i].candidates.size() + candidate_of(parameters[i], values[i]);
  }
  return position;
}

void check(const recording& item) {
  const auto amount = [](double ms) { return std::isfinite(ms) && ms >= 0; };
  if (item.score_ms && !amount(*item.score_ms)) {
    throw argument_error(fmt::format("a recorded score is {} ms", *item.score_ms));
  }
  if (!amount(item.cost_ms())) {
    throw argument_error(fmt::format("a recorded configuration cost {} ms", item.cost_ms()));
  }
}

/// One restriction for each depth, so that enumeration skips branches without recordings, instead
/// of testing every combination of a product that may be a thousand times larger.
std::vector<restriction> only_recorded(const std::vector<parameter>& parameters,
                                       const positions& recorded) {
  std::vector<std::size_t> sizes;
  sizes.reserve(parameters.size());
  for (const parameter& item : parameters) sizes.push_back(item.candidates.size());
  const auto known = std::make_shared<const positions>(recorded);
  std::vector<restriction> restrictions;
  std::vector<std::size_t> reads;
  for (std::size_t depth = 1; depth <= sizes.size(); ++depth) {
    reads.push_back(depth - 1);
    const auto begins_known = [sizes, known, depth](std::span<const std::size_t> choice) {
      std::size_t first = 0;
      std::size_t below = 1;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        first = first * sizes[i] + (i < depth ? choice[i] : 0);
        if (i >= depth) below *= sizes[i];
      }
      const auto next = std::ranges::lower_bound(*known, first);
      return next != known->end() && *next - first < below;
    };
    restrictions.push_back({"it was recorded", begins_known, reads});
  }
  return restrictions;
}

}  // namespace

recorded_space::recorded_space(std::string name, std::vector<parameter> parameters,
                               std::vector<recorded_configuration> recorded)
    : name_(std::move(name)), space_({}) {
  if (recorded.empty()) throw argument_error("nothing is recorded in '" + name_ + "'");
  const search_space product(parameters);  // checks the parameters before anything uses them
  positions at;
  for (const auto& item : recorded) {
    check(item.result);
    at.push_back(position_of(parameters, item.values));
  }
  std::vector<std::size_t> order(at.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return at[i]; });
  for (const std::size_t i : order) recordings_.push_back(std::move(recorded[i].result));
  std::ranges::sort(at);
  if (const auto twice = std::ranges::adjacent_find(at); twice != at.end()) {
    throw argument_error(
        fmt::format("the configuration ({}) is recorded twice", to_string(product.values(*twice))));
  }
  std::vector<restriction> restrictions = only_recorded(parameters, at);
  space_ = search_space(std::move(parameters), std::move(restrictions));
}

}  // namespace tune
