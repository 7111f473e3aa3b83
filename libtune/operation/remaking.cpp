// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/remaking.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"

namespace tune {
namespace {

/// The makers, by the names of their classes.
struct remaker_table {
  std::mutex mutex{};
  std::map<std::string, detail::remake_function, std::less<>> makers{};
};

remaker_table& all_remakers() {
  static detail::never_destroyed<remaker_table> table;
  return *table;
}

}  // namespace

const value& remade_parameters::at(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &named_value::name);
  if (found != values_.end()) return found->value;
  throw argument_error(fmt::format(
      "an operation '{}' cannot be made again without its parameter '{}', which is missing: it was "
      "captured by another version of the program",
      type_, name));
}

bool remade_parameters::has(std::string_view name) const noexcept {
  return std::ranges::find(values_, name, &named_value::name) != values_.end();
}

shape remade_parameters::extents(std::string_view name) const {
  const auto text = get<std::string>(name);
  std::vector<std::size_t> extents;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::size_t extent = 0;
    const auto [stop, failure] = std::from_chars(at, end, extent);
    if (failure == std::errc{}) extents.push_back(extent);
    at = failure == std::errc{} ? stop : at + 1;
  }
  const shape made(extents);
  if (to_string(made) == text) return made;
  throw type_error(
      fmt::format("the parameter '{}' of '{}' is '{}', which is no shape", name, type_, text));
}

std::string class_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return status == 0 && name ? name.get() : type.name();
}

void detail::add_remaker(const std::type_info& type, remake_function make) {
  remaker_table& table = all_remakers();
  const std::lock_guard lock(table.mutex);
  table.makers.emplace(class_name(type), std::move(make));
}

bool can_remake(const std::string& type) {
  remaker_table& table = all_remakers();
  const std::lock_guard lock(table.mutex);
  return table.makers.contains(type);
}

std::unique_ptr<operation> remake(const command_queue& queue, const std::string& type,
                                  const std::vector<named_value>& parameters) {
  detail::remake_function make;
  {
    remaker_table& table = all_remakers();
    const std::lock_guard lock(table.mutex);
    const auto found = table.makers.find(type);
    if (found == table.makers.end()) {
      std::vector<std::string> known;
      for (const auto& each : table.makers) known.push_back(each.first);
      throw argument_error(fmt::format(
          "this program cannot make operations of the class '{}' again: it has no tune::remaker of "
          "it, only of {}",
          type, known.empty() ? "no class" : fmt::format("{}", fmt::join(known, ", "))));
    }
    make = found->second;
  }
  return make(queue, remade_parameters(type, parameters));
}

}  // namespace tune
