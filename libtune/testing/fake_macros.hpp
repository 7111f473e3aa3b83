// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// The macros of a program's text, by which a fake kernel knows its configuration. Read from its
/// "#define NAME TEXT" lines; macros with parameters are left out, conditions are not evaluated,
/// and of two definitions of one name the later counts.
class fake_macros {
 public:
  fake_macros() = default;
  /// Reads the macros of this text, and keeps nothing of it.
  explicit fake_macros(std::string_view program_text);

  /// Whether the text defines a macro of this name.
  bool defined(std::string_view name) const { return macros_.find(name) != macros_.end(); }

  /// The macro's text. @throws argument_error if it is not defined
  const std::string& text(std::string_view name) const;

  /// The macro's value. @throws argument_error if it is not defined or not an integer
  std::int64_t integer(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> macros_;
};

}  // namespace tune::testing
