// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include "libtune/base/json.hpp"

namespace tune::detail {

/// Parses JSON as Python's module json writes it: with NaN, Infinity and -Infinity, which become
/// the texts of word_for_real. Bytes that are no UTF-8 are read as Latin-1. A discarded document
/// for other texts. @throws argument_error for a document that nests too deep
input parse_python_json(std::string_view text);

/// A number, also one that is not finite; empty for anything else.
std::optional<double> real_in(const input& item);

}  // namespace tune::detail
