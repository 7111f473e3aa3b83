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

/// Values by their names: a bare kernel's parameters, or a key.
///
///   const tune::configuration chosen{{"block_size_x", 64}, {"use_padding", false}};
///   chosen["block_size_x"] == 64;
class configuration {
 public:
  configuration() = default;
  /// @throws argument_error if a name comes twice
  configuration(std::initializer_list<named_value> values)
      : configuration(std::vector<named_value>(values)) {}
  /// Makes a configuration from a vector. @throws argument_error if a name comes twice
  explicit configuration(std::vector<named_value> values);

  /// A whole number; 0 or 1 for a bool. @throws argument_error with a list of the names, for an
  /// unknown name; type_error if the value is not a whole number
  std::int64_t operator[](std::string_view name) const;
  /// A number of any kind. @throws argument_error, type_error as above
  double number(std::string_view name) const;
  /// A text. @throws argument_error, type_error as above
  const std::string& text(std::string_view name) const;
  /// A value of any type. @throws argument_error as above
  const value& at(std::string_view name) const;
  /// True if a value has this name.
  bool has(std::string_view name) const noexcept;
  /// Sets a value, or adds it for a new name.
  void set(std::string_view name, value v);

  /// All values, in the order of their addition.
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

  /// A constant.
  template <std::integral Number>
  quantity(Number number)  // NOLINT(google-explicit-constructor): a number is one
      : quantity(std::to_string(number)) {}
  /// An expression over the parameters. @throws argument_error for an invalid expression
  quantity(const char* text) : quantity(std::string(text)) {}  // NOLINT: likewise
  /// An expression over the parameters. @throws argument_error for an invalid expression
  quantity(std::string text) : text_(std::move(text)) {}  // NOLINT: likewise
  /// A function of the configuration.
  template <std::invocable<const configuration&> Function>
  quantity(Function its_function) : function_(std::move(its_function)) {}  // NOLINT: likewise

  /// The value for a configuration. @throws argument_error, and the errors of the function
  double of(const configuration& at) const;
  /// The whole part of a text's value, as Kernel Tuner takes it: "block_size_x / 2" is 20 for 41.
  /// The value of a function is unchanged. @throws as of
  double whole_part(const configuration& at) const;
  /// The value for a configuration as a count: whole_part.
  /// @param at    the configuration
  /// @param what  the name of the quantity, for the message
  /// @throws argument_error also if it is negative, or a function gave no whole number
  std::size_t count(const configuration& at, std::string_view what) const;
  /// The parameters that the text reads; empty for a number or a function.
  std::vector<std::string> names() const {
    return text_ ? text_->names() : std::vector<std::string>();
  }
  /// True if the value is the same for all configurations: a text that reads no parameter.
  bool is_constant() const { return text_ && text_->names().empty(); }

 private:
  std::optional<expression> text_;  // empty for a function
  function function_;
};

}  // namespace tune
