// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tune::detail {

/// The shape of a text on a terminal.
enum class text_shape : std::uint8_t {
  lines,  ///< line feeds, with or without a carriage return before them, and tabs stay
  cell,   ///< part of a line
};

/// A text with '?' in place of what a terminal would obey or could not show: control characters of
/// ASCII, those of ISO 6429 from U+0080 to U+009F, and bytes that are not UTF-8. For texts of
/// databases and files, which may be anybody's.
std::string terminal_text(std::string_view text, text_shape shape = text_shape::lines);

}  // namespace tune::detail
