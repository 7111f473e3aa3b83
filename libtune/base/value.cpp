// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/value.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/fields.hpp"
#include "libtune/base/plain_text.hpp"

template class std::vector<tune::value>;
template class std::vector<tune::named_value>;
template class std::vector<tune::field_description>;

namespace tune {
namespace {

// in the order of the enumeration
constexpr std::array<std::string_view, 14> type_names{
    "bool",  "int8",   "uint8",   "int16",   "uint16", "int32",       "uint32",
    "int64", "uint64", "float32", "float64", "string", "enumeration", "dtype"};

constexpr std::array<std::string_view, 6> alternative_names{
    "none", "bool", "signed integer", "unsigned integer", "floating number", "string"};

std::string real_text(double v) {
  if (std::isnan(v)) return "nan";
  return fmt::format("{}", v);
}

}  // namespace

std::string_view value_type_name(value_type type) noexcept {
  return type_names[static_cast<std::size_t>(type)];
}

std::string to_string(const value& v) {
  struct {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(std::uint64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return real_text(d); }
    std::string operator()(const std::string& s) const { return s; }
  } writer;
  return std::visit(writer, v);
}

std::string to_string(const std::vector<named_value>& values) {
  std::string text;
  for (const named_value& item : values) {
    if (!text.empty()) text += ", ";
    text += item.name + "=" + to_string(item.value);
  }
  return text;
}

std::string canonical_text(const value& v) {
  struct {
    std::string operator()(std::monostate) const { return "n"; }
    std::string operator()(bool b) const { return b ? "b1" : "b0"; }
    std::string operator()(std::int64_t i) const { return fmt::format("i{}", i); }
    std::string operator()(std::uint64_t i) const { return fmt::format("u{}", i); }
    std::string operator()(double d) const { return "f" + detail::exact_text(d); }
    std::string operator()(const std::string& s) const {
      return fmt::format("s{}:{}", s.size(), s);
    }
  } writer;
  return std::visit(writer, v);
}

std::string canonical_text(const std::vector<named_value>& values) {
  std::string text;
  for (const named_value& item : values) {
    text += fmt::format("{}:{}={};", item.name.size(), item.name, canonical_text(item.value));
  }
  return text;
}

namespace detail {

void throw_wrong_type(value_type expected, const value& got) {
  throw type_error(fmt::format("expected a value of type {}, got the {} '{}'",
                               value_type_name(expected), alternative_names[got.index()],
                               to_string(got)));
}

void throw_unknown_enumerator(std::string_view name, std::string_view known) {
  throw type_error(fmt::format("'{}' is not one of the enumeration's names ({})", name, known));
}

bool boolean_from(const value& v) {
  if (const bool* b = std::get_if<bool>(&v)) return *b;
  throw_wrong_type(value_type::boolean, v);
}

std::int64_t signed_from(const value& v, value_type type, std::int64_t low, std::int64_t high) {
  const auto* i = std::get_if<std::int64_t>(&v);
  if (i == nullptr || *i < low || *i > high) throw_wrong_type(type, v);
  return *i;
}

std::uint64_t unsigned_from(const value& v, value_type type, std::uint64_t high) {
  const auto* i = std::get_if<std::uint64_t>(&v);
  if (i == nullptr || *i > high) throw_wrong_type(type, v);
  return *i;
}

double real_from(const value& v, value_type type) {
  if (const auto* d = std::get_if<double>(&v)) return *d;
  throw_wrong_type(type, v);
}

const std::string& string_from(const value& v, value_type type) {
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  throw_wrong_type(type, v);
}

void add_field(std::vector<field_description>& fields, const char* name, value_type type,
               bool optional) {
  fields.push_back({name, type, optional});
}

void add_value(std::vector<named_value>& values, const char* name, value added) {
  values.push_back({name, std::move(added)});
}

const value& find_value(std::span<const named_value> values, const char* name) {
  for (const named_value& candidate : values) {
    if (candidate.name == name) return candidate.value;
  }
  throw argument_error(std::string("no value for the field '") + name + "'");
}

std::string_view nth_name(std::string_view list, std::size_t n) noexcept {
  while (n > 0) {
    const std::size_t comma = list.find(',');
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
    --n;
  }
  list = list.substr(0, list.find(','));
  const std::size_t first = list.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return list.substr(first, list.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace detail

bool operator==(const named_value& a, const named_value& b) {
  return a.name == b.name && a.value == b.value;
}

bool operator==(const field_description& a, const field_description& b) {
  return a.name == b.name && a.type == b.type && a.optional == b.optional;
}

value value_traits<bool>::to_value(bool v) { return v; }
bool value_traits<bool>::from_value(const value& v) { return detail::boolean_from(v); }

value value_traits<std::string>::to_value(const std::string& v) { return v; }
std::string value_traits<std::string>::from_value(const value& v) {
  return detail::string_from(v, type);
}

value value_traits<dtype>::to_value(dtype v) { return std::string(dtype_name(v)); }
dtype value_traits<dtype>::from_value(const value& v) {
  return dtype_from_name(detail::string_from(v, type));
}
}  // namespace tune
