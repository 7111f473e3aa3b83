// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/extra/bare/expression.hpp"
#include "libtune/extra/bare/kernel_argument.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

/// The knobs of a pipeline: frames in flight, units of a frame, graph or enqueue, polling or
/// sleeping. Those that need a new pipeline come first, those that tuned_pipeline::change takes
/// last, because the last one varies fastest.
///
///   tune::pipeline_space knobs({.name = "app.receiver", .key = {{"antennas", 8}}});
///   knobs.knob("heaps", {4, 1, 2, 8});  // the first ones are those set by hand
///   knobs.knob("in_flight", {3, 2, 4, 6});
///   knobs.knob("wait", {"polling", "asleep"});
///   knobs.restrict("heaps * in_flight <= 24");
///
/// A value. One thread at a time may change it; const functions are thread-safe.
class pipeline_space {
 public:
  /// The identity of a result.
  struct definition {
    std::string name;     ///< names the database table, as an autotuner's name does
    int version = 0;      ///< results of other versions are not used
    configuration key{};  ///< sizes of the pipeline, and what else its best knobs depend on
  };

  /// @throws argument_error if the name or the version is invalid for an autotuner
  explicit pipeline_space(definition defined);

  /// Adds a knob with its candidates: whole or real numbers, bools or texts. The first candidates
  /// of all knobs are the configuration that is set by hand: a restriction has to allow it.
  /// @throws argument_error if the name is taken or invalid, there is no candidate, or one comes
  ///         twice or has another type than the first
  template <class Candidate>
  pipeline_space& knob(std::string name, std::initializer_list<Candidate> candidates) {
    return knob(std::move(name), std::vector<Candidate>(candidates));
  }
  /// Like the above, with the elements of a range.
  template <class Range>
  pipeline_space& knob(std::string name, const Range& candidates) {
    std::vector<value> values;
    for (const auto& candidate : candidates) values.push_back(detail::to_candidate(candidate));
    return add(std::move(name), std::move(values));
  }
  /// Allows only configurations that fulfil an expression over the knobs, as
  /// bare_kernel::restrict. @throws argument_error for an invalid expression or an unknown knob
  pipeline_space& restrict(const std::string& condition);

  /// The identity of its results.
  const definition& identity() const noexcept { return defined_; }
  /// The configurations. @throws argument_error without a knob
  search_space space() const;
  /// The configuration that is set by hand. @throws argument_error if a restriction forbids it
  configuration by_hand() const;

 private:
  pipeline_space& add(std::string name, std::vector<value> candidates);

  definition defined_;
  std::vector<parameter> knobs_;
  std::vector<expression> conditions_;
};

}  // namespace tune
