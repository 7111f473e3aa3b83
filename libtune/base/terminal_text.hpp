// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tune::detail {

/// The layout of a text on a terminal.
enum class text_shape : std::uint8_t {
  lines,  ///< line feeds, with or without a carriage return before them, and tabs are kept
  cell,   ///< part of a line
};

/// A text with '?' in place of characters that a terminal would act on or could not show: control
/// characters of ASCII, those of ISO 6429 from U+0080 to U+009F, and bytes that are not UTF-8. For
/// texts of databases and files, whose authors are unknown.
std::string terminal_text(std::string_view text, text_shape shape = text_shape::lines);

}  // namespace tune::detail
