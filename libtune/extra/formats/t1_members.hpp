// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/formats/t1.hpp"

/// The parts of a reader of T1, which throw argument_error with the member and its fault.
namespace tune::detail::t1 {

/// The member of this name. @param whose  the object, for the message
const input& member_at(const input& object, const char* name, std::string_view whose);
std::string text_at(const input& object, const char* name, const std::string& whose);
std::string text_or(const input& object, const char* name, const std::string& otherwise);
/// The array of this name; an empty one if it is missing.
input list_at(const input& object, const char* name);
/// A number or a text converted to the text of an expression.
std::string expression_text(const input& item, const std::string& whose);

/// Processes a part of the file, and names the part in errors.
template <class Function>
auto reading(const std::string& part, Function read) {
  try {
    return read();
  } catch (const argument_error& fault) {
    throw argument_error(part + ": " + fault.what());
  }
}

/// A number of elements or work items from an expression, which may read ProblemSize and the values
/// of parameters as lists.
std::size_t count_of(const std::string& text, const t1_problem& problem);

/// Reads the arguments and the expected results of a kernel.
void read_arguments(const input& kernel, t1_problem& problem);

}  // namespace tune::detail::t1
