// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/bare/expression.hpp"

namespace tune {

/// Values by their names: those of a bare kernel's parameters, or of a key.
///
///   const tune::configuration chosen{{"block_size_x", 64}, {"use_padding", false}};
///   chosen["block_size_x"] == 64;
class configuration {
 public:
  configuration() = default;
  /// @throws argument_error if a name comes twice
  configuration(std::initializer_list<named_value> values)
      : configuration(std::vector<named_value>(values)) {}
  /// The same from a vector.
  explicit configuration(std::vector<named_value> values);

  /// A whole number; of a bool, 0 or 1. @throws argument_error that lists the names, if there is
  /// none of this one; type_error if the value is no whole number
  std::int64_t operator[](std::string_view name) const;
  /// A number of any kind. @throws argument_error, type_error as above
  double number(std::string_view name) const;
  /// A text. @throws argument_error, type_error as above
  const std::string& text(std::string_view name) const;
  /// A value of any type. @throws argument_error as above
  const value& at(std::string_view name) const;
  /// True if there is a value of this name.
  bool has(std::string_view name) const noexcept;
  /// Sets a value, which is added if there is none of this name.
  void set(std::string_view name, value v);

  /// All values, in the order in which they were given.
  const std::vector<named_value>& values() const noexcept { return values_; }

  friend bool operator==(const configuration&, const configuration&) = default;

 private:
  std::vector<named_value> values_;
};

/// A number that may depend on the configuration: a constant, a text over the parameters
/// ("block_size_x * tile_size_x", see expression), or a function.
class quantity {
 public:
  using function = std::function<double(const configuration&)>;  ///< its value for each

  /// The same number for all.
  template <std::integral Number>
  quantity(Number number)  // NOLINT(google-explicit-constructor): a number is one
      : quantity(std::to_string(number)) {}
  /// An expression over the parameters. @throws argument_error if the text is none
  quantity(const char* text) : quantity(std::string(text)) {}  // NOLINT: likewise
  /// The same.
  quantity(std::string text) : text_(std::move(text)) {}  // NOLINT: likewise
  /// A function of the configuration.
  template <std::invocable<const configuration&> Function>
  quantity(Function its_function) : function_(std::move(its_function)) {}  // NOLINT: likewise

  /// Its value. @throws argument_error, and what the function throws
  double of(const configuration& at) const;
  /// Its value as a count.
  /// @param at    the configuration
  /// @param what  the name of the quantity, for the message
  /// @throws argument_error also if it is negative or no whole number
  std::size_t count(const configuration& at, std::string_view what) const;
  /// The parameters that its text reads; none for a number or a function.
  std::vector<std::string> names() const {
    return text_ ? text_->names() : std::vector<std::string>();
  }
  /// True if it is the same for all configurations: a text that reads no parameter.
  bool is_constant() const { return text_ && text_->names().empty(); }

 private:
  std::optional<expression> text_;  // empty where there is a function
  function function_;
};

}  // namespace tune
