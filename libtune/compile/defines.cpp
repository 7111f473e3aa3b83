// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/defines.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"

namespace tune {
namespace {

bool is_identifier(const std::string& name) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

struct kernel_text {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool b) const { return b ? "1" : "0"; }
  std::string operator()(std::int64_t i) const { return std::to_string(i); }
  std::string operator()(std::uint64_t i) const { return std::to_string(i); }
  // Hexadecimal digits are exact, and both languages read them.
  std::string operator()(double d) const { return fmt::format("{:a}", d); }
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
  if (text.find('\n') != std::string::npos) {
    throw argument_error(fmt::format("the macro {} would span several lines", name));
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
