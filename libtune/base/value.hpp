// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "libtune/base/dtype.hpp"

namespace tune {

/// The type of a field, as stored beside its value.
enum class value_type : std::uint8_t {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  string,
  enumeration,  ///< by name, for enumerations listed with LIBTUNE_ENUM
  element_type  ///< a tune::dtype, by name
};

/// The name of a type ("uint32", "enumeration"); never renamed, it is stored.
std::string_view value_type_name(value_type type) noexcept;

/// A field's value without its C++ type. monostate is an empty std::optional; signed integers are
/// int64_t, unsigned ones uint64_t, float and double are double, enumerations and dtypes are
/// strings. Every conversion there and back is exact.
using value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

/// A value with the name of its field.
struct named_value {
  std::string name;   ///< the member's, as LIBTUNE_FIELDS lists it
  tune::value value;  ///< std::monostate for an empty std::optional

  friend bool operator==(const named_value& a, const named_value& b);
};

/// A field without its value.
struct field_description {
  std::string name;       ///< the member's, as LIBTUNE_FIELDS lists it
  value_type type{};      ///< the type of the member, or of the value in its std::optional
  bool optional = false;  ///< true if the member is a std::optional

  friend bool operator==(const field_description& a, const field_description& b);
};

/// The value in a readable form ("64", "true", "none"). Doubles are written with as many digits as
/// are needed to read the same number back.
std::string to_string(const value& v);

/// The fields as "a=1, b=2".
std::string to_string(const std::vector<named_value>& values);

/// Unambiguous text: equal texts mean equal types and values, so 1, 1.0, true and "1" differ.
std::string canonical_text(const value& v);
/// Unambiguous text of fields: equal texts mean equal names, types and values in the same order.
std::string canonical_text(const std::vector<named_value>& values);

namespace detail {
/// A tag for a type: overloads that a macro defines for it return the macro's list.
template <class T>
struct listed {};

template <std::size_t Count, class E>
struct enumerator_list {
  std::string_view names;  ///< as written in the macro: "a, b, c"
  std::array<E, Count> values;
};
}  // namespace detail

}  // namespace tune

/// A tag by which argument-dependent lookup finds the lists of LIBTUNE_FIELDS and LIBTUNE_ENUM at
/// global scope.
struct libtune_global_scope {};

namespace tune {

/// The names of an enumeration's values, as listed by LIBTUNE_ENUM.
template <class E>
struct enum_names {
  /// True if LIBTUNE_ENUM has listed the enumeration.
  static constexpr bool known = requires {
    libtune_enumerators(detail::listed<E>{}, libtune_global_scope{});
  };
  /// The names and the values in the order of the list; requires known.
  static constexpr auto list() {
    return libtune_enumerators(detail::listed<E>{}, libtune_global_scope{});
  }
};

namespace detail {
[[noreturn]] void throw_wrong_type(value_type expected, const value& got);
[[noreturn]] void throw_unknown_enumerator(std::string_view name, std::string_view known);
bool boolean_from(const value& v);
std::int64_t signed_from(const value& v, value_type type, std::int64_t low, std::int64_t high);
std::uint64_t unsigned_from(const value& v, value_type type, std::uint64_t high);
double real_from(const value& v, value_type type);
const std::string& string_from(const value& v, value_type type);
/// The n-th of "a, b, c", trimmed.
std::string_view nth_name(std::string_view list, std::size_t n) noexcept;

constexpr value_type integer_type(std::size_t bytes, bool is_signed) noexcept {
  switch (bytes) {
    case 1: return is_signed ? value_type::int8 : value_type::uint8;
    case 2: return is_signed ? value_type::int16 : value_type::uint16;
    case 4: return is_signed ? value_type::int32 : value_type::uint32;
    default: return is_signed ? value_type::int64 : value_type::uint64;
  }
}
}  // namespace detail

/// The conversion of a C++ type to a value and back. from_value throws type_error for any other
/// type, and for an integer that does not fit.
template <class T>
struct value_traits {
  static_assert(!std::is_same_v<T, T>,
                "a member of a key or tuning is bool, an integer, float, double, an enumeration, "
                "tune::dtype, std::string, or std::optional of one of these");
  // These members suppress further error messages.
  static constexpr value_type type{};
  static constexpr bool optional = false;
  static value to_value(const T&);
  static const T& from_value(const value&);
};

template <>
struct value_traits<bool> {
  static constexpr value_type type = value_type::boolean;
  static constexpr bool optional = false;
  static value to_value(bool v);
  static bool from_value(const value& v);
};

template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct value_traits<T> {
  static constexpr value_type type = detail::integer_type(sizeof(T), std::is_signed_v<T>);
  static constexpr bool optional = false;
  using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

  static value to_value(T v) { return static_cast<wide>(v); }
  static T from_value(const value& v) {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(detail::signed_from(v, type, limits::min(), limits::max()));
    } else {
      return static_cast<T>(detail::unsigned_from(v, type, limits::max()));
    }
  }
};

template <class T>
requires std::is_floating_point_v<T>
struct value_traits<T> {
  static_assert(sizeof(T) <= sizeof(double), "long double does not survive a database column");
  static constexpr value_type type =
      sizeof(T) == sizeof(float) ? value_type::float32 : value_type::float64;
  static constexpr bool optional = false;
  static value to_value(T v) { return static_cast<double>(v); }
  static T from_value(const value& v) { return static_cast<T>(detail::real_from(v, type)); }
};

template <>
struct value_traits<std::string> {
  static constexpr value_type type = value_type::string;
  static constexpr bool optional = false;
  static value to_value(const std::string& v);
  static std::string from_value(const value& v);
};

template <>
struct value_traits<dtype> {
  static constexpr value_type type = value_type::element_type;
  static constexpr bool optional = false;
  static value to_value(dtype v);
  static dtype from_value(const value& v);
};

/// An enumeration listed with LIBTUNE_ENUM is stored by name, so that its order may change.
template <class E>
requires(std::is_enum_v<E>&& enum_names<E>::known) struct value_traits<E> {
  static constexpr value_type type = value_type::enumeration;
  static constexpr bool optional = false;

  static value to_value(E v) {
    static constexpr auto all = enum_names<E>::list();
    for (std::size_t i = 0; i < all.values.size(); ++i) {
      if (all.values[i] == v) return std::string(detail::nth_name(all.names, i));
    }
    detail::throw_unknown_enumerator(std::to_string(static_cast<long long>(v)), all.names);
  }
  static E from_value(const value& v) {
    static constexpr auto all = enum_names<E>::list();
    const std::string& name = detail::string_from(v, type);
    for (std::size_t i = 0; i < all.values.size(); ++i) {
      if (detail::nth_name(all.names, i) == name) return all.values[i];
    }
    detail::throw_unknown_enumerator(name, all.names);
  }
};

/// An enumeration without names is stored as its underlying integer.
template <class E>
requires(std::is_enum_v<E> && !enum_names<E>::known &&
         !std::is_same_v<E, dtype>) struct value_traits<E> {
  using integer = value_traits<std::underlying_type_t<E>>;
  static constexpr value_type type = integer::type;
  static constexpr bool optional = false;
  static value to_value(E v) {
    return integer::to_value(static_cast<std::underlying_type_t<E>>(v));
  }
  static E from_value(const value& v) { return static_cast<E>(integer::from_value(v)); }
};

template <class T>
struct value_traits<std::optional<T>> {
  static constexpr value_type type = value_traits<T>::type;
  static constexpr bool optional = true;
  static value to_value(const std::optional<T>& v) {
    return v ? value_traits<T>::to_value(*v) : value{};
  }
  static std::optional<T> from_value(const value& v) {
    if (std::holds_alternative<std::monostate>(v)) return std::nullopt;
    return value_traits<T>::from_value(v);
  }
};

}  // namespace tune

// The library instantiates their functions, so that its users need not.
extern template class std::vector<tune::value>;
extern template class std::vector<tune::named_value>;
extern template class std::vector<tune::field_description>;

/// Names an enumeration's values, so that keys and tunings store them by name. Use it at global
/// scope, or in the namespace of the enumeration, before the first use of the enumeration:
///   LIBTUNE_ENUM(app::layout, row_major, column_major)
#define LIBTUNE_ENUM(type, ...)                                                                 \
  [[maybe_unused]] constexpr auto libtune_enumerators(::tune::detail::listed<type>,             \
                                                      ::libtune_global_scope) {                 \
    using enum type;                                                                            \
    constexpr auto values = ::std::array{__VA_ARGS__};                                          \
    return ::tune::detail::enumerator_list<values.size(), type>{#__VA_ARGS__, values};          \
  }                                                                                             \
  static_assert(::tune::enum_names<type>::known,                                                \
                "LIBTUNE_ENUM belongs at global scope or in the namespace of the type, before " \
                "the type is used");
