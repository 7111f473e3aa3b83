// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/formats/python_json.hpp"
#include "libtune/extra/simulate/recorded_space.hpp"
#include "libtune/tune/goal.hpp"

namespace tune::detail {

/// Collects a reader's results from a file, and determines the candidates if the file does not list
/// them. Used by one thread.
class recording_builder {
 public:
  /// @param parameters  may have no candidates: then the occurring values are the candidates,
  ///                    numbers ascending and others in the order of occurrence
  explicit recording_builder(std::vector<parameter> parameters);

  const std::vector<parameter>& parameters() const noexcept { return parameters_; }

  /// Adds a configuration, or replaces an earlier one, which is older.
  void add(recorded_configuration one);

  /// Makes scores of the figures, less being better: the reciprocal of a figure that is maximised.
  /// Figures other than the time that have negative values count by their distance from the best,
  /// to which the distance of the worst is added, so that scores are positive.
  /// @throws the errors of recorded_space's constructor
  recorded_space build(std::string name, const objective& tuned_for = {}) &&;

 private:
  std::vector<parameter> parameters_;
  std::vector<recorded_configuration> recorded_;
};

/// Sets the figure of a recording, which build() makes a score. A missing one is a failure.
void set_figure(recording& made, std::optional<double> figure, const objective& tuned_for);

/// The figure of a file, unless another is given. @throws argument_error as goal_for
objective objective_of(const std::string& figure, const std::optional<objective>& given);

/// A member of a JSON object. @throws argument_error if the member is missing, or the input is not
/// an object
inline const input& recorded_member(const input& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) {
    throw argument_error(std::string("a recording lacks '") + name + "'");
  }
  return *found;
}

inline std::string text_or_empty(const input& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A number, or 0 without one.
inline double number_or_zero(const input& object, const char* name) {
  const auto found = object.find(name);
  const auto number = found == object.end() ? std::nullopt : real_in(*found);
  return number && std::isfinite(*number) ? *number : 0.0;
}

/// The value of a parameter. @throws argument_error if it is neither number nor text
inline value recorded_value(const input& item) {
  if (item.is_null()) return {};
  if (auto found = plain_value(item)) return *std::move(found);
  throw argument_error("a recorded parameter has a value that is neither number nor text");
}

/// @throws argument_error for invalid JSON
inline input parse(std::string_view text) {
  input document = parse_python_json(text);
  if (document.is_discarded()) throw argument_error("a recording is no JSON, or is cut off");
  return document;
}

}  // namespace tune::detail
