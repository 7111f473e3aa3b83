// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/step_hooks.hpp"

#include "libtune/base/word_table.hpp"

namespace tune {

std::string_view step_name(step_kind kind) noexcept {
  constexpr detail::word_table<step_kind, 4> words{
      {"its preparation", "its first run", "a run", "timed runs"}};
  return words.word(kind);
}

}  // namespace tune
