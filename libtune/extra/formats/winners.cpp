// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/winners.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {
namespace {

// ---- The default

constexpr double unmeasured_ratio = 4;  // as documented

using subject_key = std::pair<std::string, std::string>;  // canonical arguments, device

/// The times of all configurations by key and device; the faster one of two trials.
std::map<subject_key, std::map<std::string, double>> times_of(const function_content& content) {
  std::map<subject_key, std::map<std::string, double>> times;
  for (const search_content& search : content.searches) {
    auto& here = times[{text_of(search.columns, "arguments_canonical"),
                        text_of(search.columns, "device_name")}];
    for (const trial_content& trial : search.trials) {
      if (const auto score = trial.score_ns(); score && *score > 0) {
        const auto [place, added] = here.emplace(canonical_text(trial.configuration), *score);
        place->second = std::min(place->second, *score);
      }
    }
  }
  return times;
}

std::vector<named_value> default_of(const std::vector<winner>& winners,
                                    const function_content& content) {
  const auto times = times_of(content);
  const auto cost_of = [&](const winner& candidate) {
    const std::string wanted = canonical_text(candidate.tuning);
    double cost = 0;
    for (const winner& best : winners) {
      const std::string own = canonical_text(best.tuning);
      if (wanted == own) continue;
      const std::string key = text_of(search_columns(best.key, {}), "arguments_canonical");
      double ratio = unmeasured_ratio;
      if (const auto found = times.find({key, best.device}); found != times.end()) {
        const auto other = found->second.find(wanted);
        const auto base = found->second.find(own);
        if (other != found->second.end() && base != found->second.end()) {
          ratio = other->second / base->second;
        }
      }
      cost += std::log(ratio);
    }
    return cost;
  };
  std::vector<double> costs;
  std::ranges::transform(winners, std::back_inserter(costs), cost_of);
  return winners[static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin())].tuning;
}

// ---- C++

/// Converts any text to an identifier: letters, digits and single underscores, in lower case.
std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool fits = detail::is_letter_or_digit(c);
    if (fits) name += detail::lower_case(c);
    if (!fits && !name.empty() && name.back() != '_') name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  const bool begins = !name.empty() && !detail::is_digit(name[0]);
  return begins ? name : "_" + name;
}

bool is_keyword(std::string_view name) {
  static constexpr std::string_view keywords[] = {
      "alignas",       "alignof",     "and",
      "and_eq",        "asm",         "auto",
      "bitand",        "bitor",       "bool",
      "break",         "case",        "catch",
      "char",          "char8_t",     "char16_t",
      "char32_t",      "class",       "compl",
      "concept",       "const",       "consteval",
      "constexpr",     "constinit",   "const_cast",
      "continue",      "co_await",    "co_return",
      "co_yield",      "decltype",    "default",
      "delete",        "do",          "double",
      "dynamic_cast",  "else",        "enum",
      "explicit",      "export",      "extern",
      "false",         "float",       "for",
      "friend",        "goto",        "if",
      "inline",        "int",         "long",
      "mutable",       "namespace",   "new",
      "noexcept",      "not",         "not_eq",
      "nullptr",       "operator",    "or",
      "or_eq",         "private",     "protected",
      "public",        "register",    "reinterpret_cast",
      "requires",      "return",      "short",
      "signed",        "sizeof",      "static",
      "static_assert", "static_cast", "struct",
      "switch",        "template",    "this",
      "thread_local",  "throw",       "true",
      "try",           "typedef",     "typeid",
      "typename",      "union",       "unsigned",
      "using",         "virtual",     "void",
      "volatile",      "wchar_t",     "while",
      "xor",           "xor_eq",      "final",
      "override",      "import",      "module"};
  return std::ranges::find(keywords, name) != std::end(keywords);
}

/// True for names that compilers or the headers included here may define as macros.
bool may_be_macro(std::string_view name) {
  static constexpr std::string_view macros[] = {"NULL",  "assert", "errno",   "i386",
                                                "linux", "unix",   "offsetof"};
  if (name.starts_with("__") || std::ranges::find(macros, name) != std::end(macros)) return true;
  const bool is_limit = name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_C") ||
                        name.ends_with("_WIDTH");
  return is_limit && std::ranges::any_of(
                         std::initializer_list<std::string_view>{"INT", "UINT", "SIZE", "PTRDIFF",
                                                                 "WCHAR", "WINT", "SIG_ATOMIC"},
                         [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// A name, with an underscore added if C++ or this header uses it otherwise.
std::string usable_name(const std::string& name) {
  return is_keyword(name) || may_be_macro(name) || name == "std" ? name + "_" : name;
}

/// The names of a struct's members, which must differ from the struct's name.
std::vector<std::string> member_names(const std::vector<field_description>& fields,
                                      std::string_view of_struct) {
  std::vector<std::string> names;
  for (const field_description& field : fields) {
    std::string name = field.name == of_struct ? field.name + "_" : usable_name(field.name);
    const auto is_taken = [&](const std::string& other) {
      return std::ranges::find(names, other) != names.end() ||
             (other != field.name &&
              std::ranges::find(fields, other, &field_description::name) != fields.end());
    };
    while (is_taken(name)) name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

std::string type_in_cpp(const field_description& field) {
  const auto plain = [&]() -> std::string {
    switch (field.type) {
      case value_type::boolean: return "bool";
      case value_type::float32: return "float";
      case value_type::float64: return "double";
      case value_type::string:
      case value_type::enumeration:
      case value_type::element_type: return "std::string_view";
      default: return fmt::format("std::{}_t", value_type_name(field.type));
    }
  }();
  return field.optional ? "std::optional<" + plain + ">" : plain;
}

/// Every byte that is not plain, and ? because of trigraphs, as three octal digits.
std::string quoted_in_cpp(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?';
    quoted += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return quoted + '"';
}

std::string real_in_cpp(double real, value_type type) {
  const char* limits = type == value_type::float32 ? "std::numeric_limits<float>::"
                                                   : "std::numeric_limits<double>::";
  if (std::isnan(real)) return fmt::format("{}quiet_NaN()", limits);
  if (std::isinf(real)) return fmt::format("{}{}infinity()", real < 0 ? "-" : "", limits);
  // An exact number of either type, because the braces of an aggregate allow no narrowing.
  return detail::exact_text(real) + (type == value_type::float32 ? "f" : "");
}

std::string literal(const named_value& item, const field_description& field) {
  struct {
    value_type type;
    std::string operator()(std::monostate) const { return "std::nullopt"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const {
      // The least number has no literal of its own.
      if (i == std::numeric_limits<std::int64_t>::min()) return "INT64_MIN";
      return std::to_string(i);
    }
    std::string operator()(std::uint64_t u) const { return std::to_string(u) + "u"; }
    std::string operator()(double d) const { return real_in_cpp(d, type); }
    std::string operator()(const std::string& s) const { return quoted_in_cpp(s); }
  } writer{field.type};
  return std::visit(writer, item.value);
}

std::string braced(const std::vector<named_value>& values,
                   const std::vector<field_description>& fields) {
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    text += (i == 0 ? "" : ", ") + literal(values.at(i), fields[i]);
  }
  return "{" + text + "}";
}

std::string members(const std::vector<field_description>& fields, std::string_view of_struct) {
  const std::vector<std::string> names = member_names(fields, of_struct);
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    text += fmt::format("  {} {}{{}};\n", type_in_cpp(fields[i]), names[i]);
  }
  return text;
}

constexpr const char* prologue =
    R"(// libtune winners, written by tunedb export --format header. Do not edit: export it again.
//
//   constexpr auto tuning = NAMESPACE::lookup("NVIDIA H200", {.rows = 64});  // while compiling
//   const auto* found = NAMESPACE::find(device_name, key);                   // null if not tuned
//
// -DTUNED_TARGET_<DEVICE>, with a name from below, selects the device of lookup(key) and target.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

)";

constexpr const char* functions = R"(
/// Returns the tuning of a key on a device; null if the key was not tuned.
constexpr const tuning* find(std::string_view device, const key& wanted) noexcept {
  for (const winner& one : winners) {
    if (one.device == device && one.at == wanted) return &one.best;
  }
  return nullptr;
}

/// Like find(), with the default tuning on a miss.
constexpr tuning lookup(std::string_view device, const key& wanted) noexcept {
  const tuning* found = find(device, wanted);
  return found != nullptr ? *found : default_tuning;
}

/// Like lookup(device, key), for the device `tuned::target`.
constexpr tuning lookup(const key& wanted) noexcept { return lookup(::tuned::target, wanted); }
)";

std::string targets(std::span<const winner_table> tables) {
  std::map<std::string, std::string> names;  // by identifier
  for (const winner_table& table : tables) {
    for (const winner& one : table.winners) {
      std::string name = identifier(one.device);
      while (names.contains(name) && names[name] != one.device) name += "_2";
      names[name] = one.device;
    }
  }
  std::string text =
      "namespace tuned {\n\n/// The device selected by -DTUNED_TARGET_<DEVICE>; empty without "
      "it.\n";
  const char* word = "#if";
  for (const auto& [name, device] : names) {
    std::string macro = name;
    std::ranges::transform(macro, macro.begin(), detail::upper_case);
    text += fmt::format(
        "{} defined(TUNED_TARGET_{})\ninline constexpr std::string_view target = "
        "{};\n",
        word, macro, quoted_in_cpp(device));
    word = "#elif";
  }
  return text +
         "#else\ninline constexpr std::string_view target = \"\";\n#endif\n\n"
         "}  // namespace tuned\n";
}

std::string header_of(const winner_table& table, const std::string& space) {
  const function_identity& function = table.function;
  std::string text = fmt::format("\n/// The winners of {} version {}.\nnamespace {} {{\n\n",
                                 function.name, function.version, space);
  text += "struct key {\n" + members(function.key_fields, "key") +
          "  friend constexpr bool operator==(const key&, const key&) = default;\n};\n\n";
  text += "struct tuning {\n" + members(function.value_fields, "tuning") +
          "  friend constexpr bool operator==(const tuning&, const tuning&) = default;\n};\n\n";
  text +=
      "struct winner {\n  std::string_view device;\n  key at;\n  tuning best;\n"
      "  double time_ns;  // 0 if it was not measured\n};\n\n";
  text += fmt::format("inline constexpr tuning default_tuning{};\n\n",
                      braced(table.otherwise, function.value_fields));
  text +=
      fmt::format("inline constexpr std::array<winner, {}> winners{{{{\n", table.winners.size());
  for (const winner& one : table.winners) {
    text += fmt::format("    {{{}, {}, {}, {}}},\n", quoted_in_cpp(one.device),
                        braced(one.key, function.key_fields),
                        braced(one.tuning, function.value_fields), one.time_ns.value_or(0));
  }
  return text + "}};\n" + functions + fmt::format("\n}}  // namespace {}\n", space);
}

}  // namespace

winner_table winners_of(const function_content& content) {
  const bool by_time = own_name(content.function.name) == content.function.name;
  std::map<std::pair<std::string, std::string>, const result_content*> chosen;
  for (const result_content& result : content.results) {
    const device_identity device = result.device();
    if (is_prior(device)) continue;
    const result_content*& best = chosen[{device.name, canonical_text(result.arguments)}];
    if (best == nullptr || wins_over(result, *best, by_time)) best = &result;
  }
  if (chosen.empty()) {
    throw argument_error(fmt::format(
        "'{}' has no results that a program could use; priors are none", content.function.name));
  }
  winner_table table{.function = content.function};
  for (const auto& [where, result] : chosen) {
    const device_identity device = result->device();
    table.winners.push_back({.device = device.name,
                             .platform = device.platform,
                             .driver = device.driver_version,
                             .key = result->arguments,
                             .tuning = result->values,
                             .time_ns = result->score_ns()});
  }
  std::ranges::stable_sort(table.winners, {}, [](const winner& one) {
    std::vector<value> key;
    for (const named_value& item : one.key) key.push_back(item.value);
    return std::pair(one.device, key);
  });
  table.otherwise = default_of(table.winners, content);
  return table;
}

std::string to_header(std::span<const winner_table> tables) {
  std::string text = prologue + targets(tables);
  std::set<std::string> spaces;
  for (const winner_table& table : tables) {
    std::string space =
        "tuned::" + usable_name(identifier(table.function.name)) +
        (table.function.version == 0 ? "" : fmt::format("_v{}", table.function.version));
    if (space == "tuned::target") space += "_";  // it is the name of the device
    if (!spaces.insert(space).second) {
      throw argument_error("two functions would share the namespace " + space +
                           "; export them one by one, with --function");
    }
    text += header_of(table, space);
  }
  return text;
}

std::string to_winners_json(std::span<const winner_table> tables) {
  using detail::json;
  using detail::plain_json;
  json all = json::array();
  for (const winner_table& table : tables) {
    json winners = json::array();
    for (const winner& one : table.winners) {
      winners.push_back({{"device", one.device},
                         {"platform", one.platform},
                         {"driver", one.driver},
                         {"key", plain_json(one.key)},
                         {"tuning", plain_json(one.tuning)},
                         {"time_ns", detail::number_or_null(one.time_ns)}});
    }
    all.push_back({{"function", table.function.name},
                   {"version", table.function.version},
                   {"default", plain_json(table.otherwise)},
                   {"winners", std::move(winners)}});
  }
  return detail::json_text(json{{"format", "libtune winners"},
                                {"format_version", 1},
                                {"functions", std::move(all)}},
                           1) +
         "\n";
}

}  // namespace tune
