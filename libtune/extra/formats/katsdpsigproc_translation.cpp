// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/katsdpsigproc_translation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/formats/infer_field.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {
namespace {

constexpr std::size_t most_keys = 1000;  // keys of one row

/// Decodes a number that numpy stored as bytes, on little-endian machines.
std::optional<std::int64_t> integer_in(const std::vector<std::byte>& bytes) {
  const bool is_integer =
      bytes.size() == 1 || bytes.size() == 2 || bytes.size() == 4 || bytes.size() == 8;
  if (!is_integer) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  const std::size_t unused = 64 - 8 * bytes.size();
  return static_cast<std::int64_t>(number << unused) >> unused;
}

/// Converts "<class 'numpy.float32'>" and "dtype('float32')" to float32; other text is unchanged.
std::string without_numpy(const std::string& text) {
  const bool is_type = text.starts_with("<class '") || text.starts_with("dtype('");
  if (!is_type) return text;
  const std::size_t open = text.find('\'');
  std::string name = text.substr(open + 1, text.rfind('\'') - open - 1);
  if (name.starts_with("numpy.")) name.erase(0, 6);
  return name;
}

const value& column_of(const katsdpsigproc_row& row, const std::string& column) {
  const auto found = row.find(column);
  if (found != row.end()) return found->second;
  throw argument_error("there is no column " + column);
}

std::vector<named_value> tuning_of(const counterpart& made, const translation_target& target) {
  std::vector<named_value> tuning = target.test_default;
  bool any = false;
  for (const field_description& field : target.function.value_fields) {
    const auto found = made.tuning.find(field.name);
    const auto place = std::ranges::find(tuning, field.name, &named_value::name);
    if (found == made.tuning.end() || place == tuning.end()) continue;
    place->value = convert_value(field, found->second);
    any = true;
  }
  if (!any) {
    throw argument_error("no parameter has a counterpart in " + target.function.name);
  }
  return tuning;
}

/// Each combination of the values of the fields.
std::vector<std::vector<named_value>> keys_of(const counterpart& made,
                                              const function_identity& function) {
  std::vector<std::vector<named_value>> keys{{}};
  for (const field_description& field : function.key_fields) {
    const auto found = made.key.find(field.name);
    if (found == made.key.end()) {
      throw argument_error(fmt::format("the field {} of the key of {} has no counterpart",
                                       field.name, function.name));
    }
    std::vector<std::vector<named_value>> longer;
    for (const std::vector<named_value>& key : keys) {
      for (const value& choice : found->second) {
        longer.push_back(key);
        longer.back().push_back({field.name, convert_value(field, choice)});
      }
    }
    keys = std::move(longer);
    if (keys.size() > most_keys) throw argument_error("a row stands for too many keys");
  }
  return keys;
}

}  // namespace

std::int64_t integer_of(const katsdpsigproc_row& row, const std::string& column) {
  if (const auto* integer = std::get_if<std::int64_t>(&column_of(row, column))) return *integer;
  throw argument_error("column " + column + " holds what is no whole number");
}

std::string text_of(const katsdpsigproc_row& row, const std::string& column) {
  if (const auto* text = std::get_if<std::string>(&column_of(row, column))) return *text;
  throw argument_error("column " + column + " holds what is no text");
}

bool truth_of(const katsdpsigproc_row& row, const std::string& column) {
  const std::int64_t number = integer_of(row, column);
  if (number == 0 || number == 1) return number == 1;
  throw argument_error("column " + column + " is neither 0 nor 1");
}

katsdpsigproc_row plain_row(const column_values& columns) {
  katsdpsigproc_row row;
  for (const auto& [name, content] : columns) {
    if (const auto* number = std::get_if<std::int64_t>(&content)) row[name] = *number;
    if (const auto* real = std::get_if<double>(&content)) row[name] = *real;
    if (const auto* text = std::get_if<std::string>(&content)) row[name] = without_numpy(*text);
    if (const auto* bytes = std::get_if<std::vector<std::byte>>(&content)) {
      if (const auto integer = integer_in(*bytes)) row[name] = *integer;
    }
  }
  return row;
}

std::vector<result_content> translate_row(const katsdpsigproc_translation& rule,
                                          const translation_target& target,
                                          const katsdpsigproc_row& row,
                                          const column_values& columns) {
  const counterpart made = rule.translate(row);
  const std::vector<named_value> tuning = tuning_of(made, target);
  std::vector<result_content> priors;
  for (std::vector<named_value>& key : keys_of(made, target.function)) {
    result_content prior{.arguments = std::move(key), .values = tuning, .columns = columns};
    prior.columns["device_api"] = std::string(prior_api);
    priors.push_back(std::move(prior));
  }
  return priors;
}

}  // namespace tune
