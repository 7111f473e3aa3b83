// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/core/when.hpp>
#include <boost/hana/ext/std/integral_constant.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"

/// Lists the members of a key or tuning once, for database columns, kernel defines and log lines.
/// The type is a plain aggregate of at most 64 members, each of which is bool, an integer, float,
/// double, an enumeration, tune::dtype, std::string, or std::optional of one of these. Use it at
/// global scope, or in the namespace of the type:
///   LIBTUNE_FIELDS(app::multiply_tuning, wgs, rows)
/// A missing member is a compile error. A type without members is written LIBTUNE_FIELDS(t).
#define LIBTUNE_FIELDS(type, ...)                                                     \
  [[maybe_unused]] constexpr auto libtune_fields(::tune::detail::listed<type>,        \
                                                 ::libtune_global_scope) {            \
    return ::boost::hana::make_tuple(                                                 \
        __VA_OPT__(LIBTUNE_DETAIL_EXPAND(LIBTUNE_DETAIL_FIELDS(type, __VA_ARGS__)))); \
  }                                                                                   \
  static_assert(::tune::detail::lists_every_member<type>(),                           \
                "LIBTUNE_FIELDS has to list every member of the type, each once");

// A macro is not expanded within itself. The call through _LATER defers it to the next scan.
#define LIBTUNE_DETAIL_FIELDS(type, member, ...)       \
  ::tune::detail::make_field<#member, &type::member>() \
      __VA_OPT__(, LIBTUNE_DETAIL_FIELDS_LATER LIBTUNE_DETAIL_BRACKETS(type, __VA_ARGS__))
#define LIBTUNE_DETAIL_FIELDS_LATER() LIBTUNE_DETAIL_FIELDS
#define LIBTUNE_DETAIL_BRACKETS ()
#define LIBTUNE_DETAIL_EXPAND(...) \
  LIBTUNE_DETAIL_SCAN_16(          \
      LIBTUNE_DETAIL_SCAN_16(LIBTUNE_DETAIL_SCAN_16(LIBTUNE_DETAIL_SCAN_16(__VA_ARGS__))))
#define LIBTUNE_DETAIL_SCAN_16(...) \
  LIBTUNE_DETAIL_SCAN_4(            \
      LIBTUNE_DETAIL_SCAN_4(LIBTUNE_DETAIL_SCAN_4(LIBTUNE_DETAIL_SCAN_4(__VA_ARGS__))))
#define LIBTUNE_DETAIL_SCAN_4(...) \
  LIBTUNE_DETAIL_SCAN(LIBTUNE_DETAIL_SCAN(LIBTUNE_DETAIL_SCAN(LIBTUNE_DETAIL_SCAN(__VA_ARGS__))))
#define LIBTUNE_DETAIL_SCAN(...) __VA_ARGS__

namespace tune::detail {

// Argument-dependent lookup finds the list in the namespace of the type or in the global one.
template <class T>
concept has_field_list = requires {
  libtune_fields(listed<T>{}, libtune_global_scope{});
};

}  // namespace tune::detail

// doxygen does not find the primary template, which belongs to another library.
/// @cond
template <class T>
struct boost::hana::accessors_impl<T, boost::hana::when<tune::detail::has_field_list<T>>> {
  static constexpr auto apply() {
    return libtune_fields(tune::detail::listed<T>{}, libtune_global_scope{});
  }
};
/// @endcond

namespace tune {
namespace detail {

template <std::size_t Size>
struct field_text {
  char characters[Size]{};
  consteval field_text(const char (&text)[Size]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < Size; ++i) characters[i] = text[i];
  }
};

template <auto Member>
struct member_accessor {
  template <class T>
  constexpr decltype(auto) operator()(T&& object) const {
    return std::forward<T>(object).*Member;
  }
};

// Any enumeration can be stored as a value; its names are optional.
template <class T>
inline constexpr bool is_enum = std::is_enum_v<T>;
template <class T>
inline constexpr bool is_enum<std::optional<T>> = std::is_enum_v<T>;

template <class T, class Member>
constexpr void require_value(Member T::*) {
  if constexpr (!is_enum<Member>) static_cast<void>(value_traits<Member>::type);
}

template <field_text Name, auto Member>
constexpr auto make_field() {
  require_value(Member);
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return boost::hana::make_pair(boost::hana::string_c<Name.characters[I]...>,
                                  member_accessor<Member>{});
  }
  (std::make_index_sequence<sizeof(Name.characters) - 1>{});
}

struct convertible_to_anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): that is its purpose
};

template <class T, std::size_t... I>
constexpr bool initialisable_from(std::index_sequence<I...>) {
  return requires { T{((void)I, convertible_to_anything{})...}; };
}

/// The number of members of an aggregate.
template <class T, std::size_t N = 0>
constexpr std::size_t aggregate_arity() {
  if constexpr (!initialisable_from<T>(std::make_index_sequence<N + 1>{})) {
    return N;
  } else {
    return aggregate_arity<T, N + 1>();
  }
}

template <class T>
constexpr bool lists_every_member() {
  static_assert(std::is_aggregate_v<T>, "a key or tuning is a plain aggregate");
  static_assert(boost::hana::Struct<T>::value,
                "LIBTUNE_FIELDS belongs at global scope or in the namespace of the type, before "
                "the type is used");
  if constexpr (boost::hana::Struct<T>::value) {
    using fields = decltype(boost::hana::accessors<T>());
    return decltype(boost::hana::length(std::declval<fields>()))::value == aggregate_arity<T>();
  }
  return true;  // a static_assert above has failed already
}

}  // namespace detail

/// A type whose members LIBTUNE_FIELDS has listed.
template <class T>
concept fielded = boost::hana::Struct<T>::value;

/// Calls visit(name, member) for each member in the order of the list, without copying any. The
/// name is a const char*.
template <class T, class Visitor>
requires fielded<std::remove_const_t<T>>
void for_each_field(T& object, Visitor&& visit) {
  boost::hana::for_each(boost::hana::accessors<std::remove_const_t<T>>(), [&](auto&& accessor) {
    visit(boost::hana::to<const char*>(boost::hana::first(accessor)),
          boost::hana::second(accessor)(object));
  });
}

namespace detail {
// Not a template, so that it is compiled once for all types.
void add_field(std::vector<field_description>& fields, const char* name, value_type type,
               bool optional);
void add_value(std::vector<named_value>& values, const char* name, value added);
}  // namespace detail

/// The fields of T in the order of the list.
template <fielded T>
std::vector<field_description> describe_fields() {
  std::vector<field_description> fields;
  const T object{};
  for_each_field(object, [&](const char* name, const auto& member) {
    using traits = value_traits<std::remove_cvref_t<decltype(member)>>;
    detail::add_field(fields, name, traits::type, traits::optional);
  });
  return fields;
}

/// The fields of an object as values, in the order of the list.
template <fielded T>
std::vector<named_value> to_values(const T& object) {
  std::vector<named_value> values;
  for_each_field(object, [&](const char* name, const auto& member) {
    detail::add_value(values, name,
                      value_traits<std::remove_cvref_t<decltype(member)>>::to_value(member));
  });
  return values;
}

namespace detail {
/// The value of this name. @throws argument_error that names the missing field
const value& find_value(std::span<const named_value> values, const char* name);
}  // namespace detail

/// The object with these values. Values without a field in T are ignored.
/// @throws argument_error if a field's value is missing, type_error if it has another type.
template <fielded T>
T from_values(std::span<const named_value> values) {
  T object{};
  for_each_field(object, [&](const char* name, auto& member) {
    using traits = value_traits<std::remove_cvref_t<decltype(member)>>;
    member = traits::from_value(detail::find_value(values, name));
  });
  return object;
}

/// The name of a member, given its pointer: field_name(&tuning::wgs) is "wgs".
template <fielded T, class Member>
std::string field_name(Member T::*pointer) {
  const T object{};
  std::string found;
  for_each_field(object, [&](const char* name, const auto& member) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, Member>) {
      if (std::addressof(member) == std::addressof(object.*pointer)) found = name;
    }
  });
  return found;
}

}  // namespace tune
