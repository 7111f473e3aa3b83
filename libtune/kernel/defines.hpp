// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/base/value.hpp"

namespace tune {

/// The macros that a kernel is compiled with, in order. Fields become macros of the same name:
/// booleans are 1 or 0, a dtype is the type's name in kernel text, a string is inserted unchanged,
/// an enumeration is the name of its value, an empty optional defines no macro.
///
/// Names that would hide a word of the preamble, a keyword or a type of either language are
/// refused, and so are texts that would extend beyond their line: several lines, a backslash at the
/// end, a comment.
class defines {
 public:
  defines() = default;

  /// Defines the fields of a key, a tuning, or both: defines(key, tuning). @throws argument_error
  /// as add
  template <fielded... Structs>
  requires(sizeof...(Structs) > 0) explicit defines(const Structs&... structs) {
    (add_fields(describe_fields<Structs>(), to_values(structs)), ...);
  }

  /// Adds one macro. @throws argument_error if the name is not a C identifier, hides a word or is
  /// already defined differently, or if the text extends beyond its line
  defines& add(const std::string& name, const value& v);
  /// Adds a macro with an integer. @throws argument_error as above
  defines& add(const std::string& name, int v) { return add(name, value(std::int64_t{v})); }
  /// Adds a macro with this text, without quotes. @throws argument_error as above
  defines& add(const std::string& name, const char* v) { return add(name, value(std::string(v))); }

  /// The macros as given, for messages.
  const std::vector<named_value>& values() const noexcept { return values_; }

  /// The macros as lines "#define name text".
  std::string text() const;

 private:
  struct macro {
    std::string name;
    std::string text;
  };

  void add_fields(const std::vector<field_description>& fields,
                  const std::vector<named_value>& values);
  void add_macro(const std::string& name, std::string text, const value& v);

  std::vector<macro> macros_;
  std::vector<named_value> values_;
};

}  // namespace tune
