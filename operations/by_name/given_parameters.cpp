// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/by_name/given_parameters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::operations {
namespace {

/// The whole numbers of a text with a character between them; empty if it is no such text.
std::optional<std::vector<std::uint64_t>> numbers_between(std::string_view text, char separator) {
  std::vector<std::uint64_t> made;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    while (at != end && *at == ' ') ++at;
    std::uint64_t number = 0;
    const auto [stop, failure] = std::from_chars(at, end, number);
    if (failure != std::errc{} || (stop != end && *stop != separator)) return std::nullopt;
    made.push_back(number);
    if (stop == end) return made;
    at = stop + 1;
  }
}

[[noreturn]] void throw_no_natural(std::string_view name, const value& v) {
  throw type_error(
      fmt::format("'{}' is {}, no whole number from 0 to 2^64 - 1", name, to_string(v)));
}

}  // namespace

given_parameters::given_parameters(std::string operation,
                                   std::span<const parameter_description> described,
                                   parameter_stage at, const configuration& given)
    : operation_(std::move(operation)) {
  std::vector<std::string> known;
  for (const parameter_description& each : described) {
    if (each.stage != at) continue;
    known.push_back(each.name);
    if (given.has(each.name)) {
      values_.set(each.name, given.at(each.name));
    } else if (std::holds_alternative<std::monostate>(each.default_value)) {
      throw argument_error(fmt::format("the operation '{}' needs the parameter '{}': {}",
                                       operation_, each.name, each.meaning));
    } else {
      values_.set(each.name, each.default_value);
    }
  }
  for (const named_value& each : given.values()) {
    if (std::ranges::find(known, each.name) != known.end()) continue;
    throw argument_error(
        fmt::format("the operation '{}' has no parameter '{}' here; it has {}", operation_,
                    each.name, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
}

std::size_t given_parameters::count(std::string_view name, std::uint64_t most) const {
  const std::int64_t number = values_[name];
  if (number < 0) {
    throw argument_error(
        fmt::format("'{}' of the operation '{}' is {}, less than zero", name, operation_, number));
  }
  if (static_cast<std::uint64_t>(number) > most) {
    throw argument_error(fmt::format("'{}' of the operation '{}' is {}, more than {}", name,
                                     operation_, number, most));
  }
  return static_cast<std::size_t>(number);
}

double given_parameters::real(std::string_view name) const {
  return real_of(name, values_.at(name));
}

shape given_parameters::extents(std::string_view name) const {
  const auto* written = std::get_if<std::string>(&values_.at(name));
  if (written == nullptr) return shape{count(name)};
  const auto made = numbers_between(*written, 'x');
  if (!made) {
    throw argument_error(
        fmt::format("'{}' of the operation '{}' is '{}', no extents such as '64x1024'", name,
                    operation_, *written));
  }
  return shape(std::span<const std::size_t>(*made));
}

std::vector<std::uint64_t> given_parameters::numbers(std::string_view name) const {
  const value& v = values_.at(name);
  const auto* written = std::get_if<std::string>(&v);
  if (written != nullptr && written->empty()) return {};
  return naturals_of(name, v);
}

double real_of(std::string_view setting, const value& v) {
  if (const auto* natural = std::get_if<std::uint64_t>(&v)) return static_cast<double>(*natural);
  return configuration({{std::string(setting), v}}).number(setting);
}

std::uint64_t natural_of(std::string_view setting, const value& v) {
  constexpr double beyond = 18446744073709551616.0;  // 2^64
  if (const auto* truth = std::get_if<bool>(&v)) return *truth ? 1 : 0;
  if (const auto* natural = std::get_if<std::uint64_t>(&v)) return *natural;
  if (const auto* whole = std::get_if<std::int64_t>(&v)) {
    if (*whole >= 0) return static_cast<std::uint64_t>(*whole);
  }
  if (const auto* real = std::get_if<double>(&v)) {
    if (*real >= 0 && *real < beyond && std::trunc(*real) == *real) {
      return static_cast<std::uint64_t>(*real);
    }
  }
  throw_no_natural(setting, v);
}

std::vector<std::uint64_t> naturals_of(std::string_view setting, const value& v) {
  const auto* written = std::get_if<std::string>(&v);
  if (written == nullptr) return {natural_of(setting, v)};
  if (auto made = numbers_between(*written, ',')) return std::move(*made);
  throw type_error(fmt::format("'{}' is '{}', no whole numbers such as '0,16'", setting, *written));
}

}  // namespace tune::operations
