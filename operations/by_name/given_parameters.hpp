// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libtune/base/fields.hpp"
#include "operations/by_name/by_name.hpp"

namespace tune::operations {

/// All parameters of one stage of an operation that is made by name: given values and defaults.
/// Whole numbers may be signed or unsigned.
class given_parameters {
 public:
  /// @param operation  its name, for errors
  /// @param described  the parameters of the operation, of all stages
  /// @param at         the stage of the given values
  /// @param given      the values of the caller
  /// @throws argument_error for an unknown name, or for a missing one without a default
  given_parameters(std::string operation, std::span<const parameter_description> described,
                   parameter_stage at, const configuration& given);

  /// A whole number. @throws type_error
  std::int64_t number(std::string_view name) const { return values_[name]; }
  /// A whole number that is not negative. @throws type_error; argument_error if it is negative or
  /// larger than most
  std::size_t count(std::string_view name,
                    std::uint64_t most = std::numeric_limits<std::size_t>::max()) const;
  /// A number of any kind. @throws type_error
  double real(std::string_view name) const;
  /// A bool, or a whole number other than 0. @throws type_error
  bool is_true(std::string_view name) const { return values_[name] != 0; }
  /// A text. @throws type_error
  const std::string& text(std::string_view name) const { return values_.text(name); }
  /// An element type. @throws type_error
  dtype type(std::string_view name) const { return dtype_from_name(text(name)); }
  /// Extents, as a text such as "64x1024" or a number. @throws argument_error, type_error
  shape extents(std::string_view name) const;
  /// Whole numbers, as a text such as "1,2,4" or a number; none for an empty text.
  /// @throws type_error
  std::vector<std::uint64_t> numbers(std::string_view name) const;

  /// A value as a type that a field of a key can have. @throws argument_error, type_error
  template <class T>
  T as(std::string_view name) const {
    if constexpr (std::is_same_v<T, bool>) {
      return is_true(name);
    } else if constexpr (std::is_unsigned_v<T>) {
      return static_cast<T>(count(name, std::numeric_limits<T>::max()));
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(real(name));
    } else {
      return value_traits<T>::from_value(values_.at(name));
    }
  }
  /// A key or a shape of the values with the names of its fields. @throws argument_error,
  /// type_error
  template <fielded T>
  T all() const {
    T made{};
    for_each_field(made, [&](const char* name, auto& member) {
      member = as<std::remove_reference_t<decltype(member)>>(name);
    });
    return made;
  }

 private:
  std::string operation_;
  configuration values_;
};

/// The number of any kind that was given as a setting. @throws type_error
double real_of(std::string_view setting, const value& v);
/// The whole number from 0 to 2^64 - 1 that was given as a setting. @throws type_error
std::uint64_t natural_of(std::string_view setting, const value& v);
/// The whole numbers that were given as a setting: a text such as "0,16", or one number.
/// @throws type_error
std::vector<std::uint64_t> naturals_of(std::string_view setting, const value& v);

}  // namespace tune::operations
