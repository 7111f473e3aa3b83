// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/configuration.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "libtune/base/error.hpp"

namespace tune {

configuration::configuration(std::vector<named_value> values) : values_(std::move(values)) {
  for (auto i = values_.begin(); i != values_.end(); ++i) {
    if (std::find_if(values_.begin(), i,
                     [&](const auto& other) { return other.name == i->name; }) == i) {
      continue;
    }
    throw argument_error(fmt::format("a configuration has the name '{}' twice", i->name));
  }
}

std::int64_t configuration::operator[](std::string_view name) const {
  const value& found = at(name);
  if (const auto* whole = std::get_if<std::int64_t>(&found)) return *whole;
  if (const auto* truth = std::get_if<bool>(&found)) return *truth ? 1 : 0;
  const auto* count = std::get_if<std::uint64_t>(&found);
  if (count != nullptr && *count <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return static_cast<std::int64_t>(*count);
  }
  throw type_error(fmt::format("'{}' is {}, not a whole number: see configuration::number and text",
                               name, to_string(found)));
}

double configuration::number(std::string_view name) const {
  const value& found = at(name);
  if (const auto* real = std::get_if<double>(&found)) return *real;
  return static_cast<double>((*this)[name]);
}

const std::string& configuration::text(std::string_view name) const {
  const value& found = at(name);
  if (const auto* text = std::get_if<std::string>(&found)) return *text;
  throw type_error(fmt::format("'{}' is {}, not a text", name, to_string(found)));
}

const value& configuration::at(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &named_value::name);
  if (found != values_.end()) return found->value;
  throw argument_error(fmt::format("there is no value '{}' among {}", name,
                                   values_.empty() ? "none" : to_string(values_)));
}

bool configuration::has(std::string_view name) const noexcept {
  return std::ranges::find(values_, name, &named_value::name) != values_.end();
}

void configuration::set(std::string_view name, value v) {
  const auto found = std::ranges::find(values_, name, &named_value::name);
  if (found == values_.end()) {
    values_.push_back({std::string(name), std::move(v)});
  } else {
    found->value = std::move(v);
  }
}

double quantity::of(const configuration& at) const {
  return text_ ? text_->number(at.values()) : function_(at);
}

double quantity::whole_part(const configuration& at) const {
  return text_ ? std::trunc(text_->number(at.values())) : function_(at);
}

std::size_t quantity::count(const configuration& at, std::string_view what) const {
  const double number = whole_part(at);
  if (number >= 0 && number < 9e15 && number == std::floor(number)) {
    return static_cast<std::size_t>(number);
  }
  throw argument_error(fmt::format("{}{} is {} for {}, not a count", what,
                                   text_ ? " '" + text_->text() + "'" : "", number,
                                   to_string(at.values())));
}

}  // namespace tune
