// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/simulate/recorded_space.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"

namespace tune::detail {

/// Collects what a reader finds in a file, and finds the candidates where the file does not list
/// them. Used by one thread.
class recording_builder {
 public:
  /// @param parameters  may have no candidates: then those that occur are the candidates, numbers
  ///                    ascending and the rest in the order in which they occur
  explicit recording_builder(std::vector<parameter> parameters);

  const std::vector<parameter>& parameters() const noexcept { return parameters_; }

  /// A configuration that is there already is replaced, for the later one is the newer one.
  void add(recorded_configuration one);

  /// @throws what recorded_space's constructor throws
  recorded_space build(std::string name) &&;

 private:
  std::vector<parameter> parameters_;
  std::vector<recorded_configuration> recorded_;
};

/// A member of a JSON object. @throws argument_error if there is none, or this is no object
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

/// A number, or 0 where there is none.
inline double number_or_zero(const input& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

/// The value of a parameter. @throws argument_error if it is neither number nor text
inline value recorded_value(const input& item) {
  if (auto found = plain_value(item)) return *std::move(found);
  throw argument_error("a recorded parameter has a value that is neither number nor text");
}

/// @throws argument_error if the text is no JSON
inline input parse(std::string_view text) {
  input document = input::parse(text, nullptr, false);
  if (document.is_discarded()) throw argument_error("a recording is no JSON, or is cut off");
  return document;
}

}  // namespace tune::detail
