// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/lookup_plan.hpp"

#include "libtune/base/word_table.hpp"

namespace tune {

const char* lookup_step_name(lookup_step step) noexcept {
  constexpr detail::word_table<lookup_step, 6> words{
      {"use", "check first", "verify", "tune", "fail", "test default"}};
  return words.word(step);
}

lookup_step lookup_plan::step(const lookup_candidates& candidates) const noexcept {
  if (tunes_anew(candidates)) return lookup_step::tune;
  if (candidates.exact) return lookup_step::use;
  if (candidates.nearest && verifies()) return lookup_step::verify;
  if (candidates.nearest && uses_nearest()) return lookup_step::check_first;
  switch (mode_) {
    case tuning_mode::cached: return lookup_step::fail;
    case tuning_mode::defaults:
    case tuning_mode::behind: return lookup_step::test_default;
    case tuning_mode::tune:
    case tuning_mode::resume:
    case tuning_mode::force: break;
  }
  return lookup_step::tune;
}

}  // namespace tune
