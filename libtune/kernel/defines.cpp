// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/defines.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/kernel/preamble.hpp"

namespace tune {
namespace {

bool is_identifier(const std::string& name) {
  return !name.empty() && !detail::is_digit(name.front()) &&
         std::ranges::all_of(name, detail::is_word);
}

/// Returns the reason why a name would hide something from the kernel; empty if it hides nothing.
std::string hidden_by(const std::string& name) {
  if (is_portable_word(name)) {
    return "it is a word of libtune's kernels (see libtune/kernel/preamble.hpp)";
  }
  if (is_keyword(name)) return "it is a word of OpenCL C or CUDA C++";
  if (name.starts_with("libtune_") || name.starts_with("LIBTUNE_") || name.starts_with("__")) {
    return "names that begin with LIBTUNE_, libtune_ or two underscores are not the kernel's own";
  }
  return {};
}

/// Returns the text after the string or character at its beginning; after the quote if it is not
/// closed.
std::string_view after_quoted(std::string_view text) {
  const char quote = text.front();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return text.substr(i + 1);
    }
  }
  return text.substr(1);
}

/// Describes how a text in a #define affects the following lines; empty if it does not.
std::string reach_of(std::string_view text) {
  if (text.ends_with('\\') || text.ends_with("?\?/")) return "ends in a backslash";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\t') {
      return c == '\n' || c == '\r' ? "has several lines" : "has a control character";
    }
  }
  while (!text.empty()) {
    if (text.starts_with("//") || text.starts_with("/*")) return "begins a comment";
    if (text.starts_with("R\"")) return "has a raw string";
    const bool quoted = text.front() == '"' || text.front() == '\'';
    text = quoted ? after_quoted(text) : text.substr(1);
  }
  return {};
}

std::string_view without_end_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\v\f\r\n") + 1);
}

struct kernel_text {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool b) const { return b ? "1" : "0"; }
  std::string operator()(std::int64_t i) const { return std::to_string(i); }
  std::string operator()(std::uint64_t i) const { return std::to_string(i); }
  // Hexadecimal digits are exact, and both languages accept them.
  std::string operator()(double d) const { return detail::exact_text(d); }
  std::string operator()(const std::string& s) const { return s; }
};

std::string text_of(const value& v, value_type type) {
  std::string text = std::visit(kernel_text{}, v);
  if (type == value_type::element_type)
    return std::string(dtype_kernel_name(dtype_from_name(text)));
  if (type == value_type::float32) text += "f";
  if (std::holds_alternative<std::int64_t>(v) && text.front() == '-') text = "(" + text + ")";
  return text;
}

}  // namespace

defines& defines::add(const std::string& name, const value& v) {
  add_macro(name, text_of(v, value_type::string), v);
  return *this;
}

std::string defines::text() const {
  std::string all;
  for (const macro& item : macros_) all += fmt::format("#define {} {}\n", item.name, item.text);
  return all;
}

void defines::add_fields(const std::vector<field_description>& fields,
                         const std::vector<named_value>& values) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (std::holds_alternative<std::monostate>(values[i].value)) continue;
    add_macro(fields[i].name, text_of(values[i].value, fields[i].type), values[i].value);
  }
}

void defines::add_macro(const std::string& name, std::string text, const value& v) {
  if (!is_identifier(name)) {
    throw argument_error(fmt::format("'{}' cannot be the name of a macro", name));
  }
  if (const std::string why = hidden_by(name); !why.empty()) {
    throw argument_error(
        fmt::format("'{}' cannot be the name of a macro or a field that becomes one: "
                    "{}; call it something else",
                    name, why));
  }
  if (std::string what = reach_of(text);
      !what.empty() || !(what = reach_of(without_end_blanks(text))).empty()) {
    throw argument_error(fmt::format(
        "the text of the macro {} {}, which reaches beyond its line: '{}'", name, what, text));
  }
  const auto existing = std::find_if(macros_.begin(), macros_.end(),
                                     [&](const macro& item) { return item.name == name; });
  if (existing == macros_.end()) {
    macros_.push_back({name, std::move(text)});
    values_.push_back({name, v});
  } else if (existing->text != text) {
    throw argument_error(fmt::format("the macro {} is defined as '{}' and again as '{}'", name,
                                     existing->text, text));
  }
}

}  // namespace tune
