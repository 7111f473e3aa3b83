// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/trial.hpp"

#include "libtune/base/word_table.hpp"

namespace tune {
namespace {

constexpr detail::word_table<outcome, 12> outcome_words{
    {"measured", "skipped", "over a device limit", "compile failed", "launch failed",
     "wrong result", "invalid time", "failed", "timed out", "crashed", "device fault",
     "out of memory"}};

}  // namespace

std::string_view outcome_name(outcome result) noexcept { return outcome_words.word(result); }

std::optional<outcome> outcome_from_name(std::string_view name) noexcept {
  return outcome_words.find(name);
}

}  // namespace tune
