// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/lookup_plan.hpp"

namespace tune {

const char* lookup_step_name(lookup_step step) noexcept {
  switch (step) {
    case lookup_step::use: return "use";
    case lookup_step::check_first: return "check first";
    case lookup_step::verify: return "verify";
    case lookup_step::tune: return "tune";
    case lookup_step::fail: return "fail";
    case lookup_step::test_default: break;
  }
  return "test default";
}

lookup_step lookup_plan::step(const lookup_candidates& candidates) const noexcept {
  if (tunes_anew(candidates)) return lookup_step::tune;
  if (candidates.exact) return lookup_step::use;
  if (candidates.nearest && verifies()) return lookup_step::verify;
  if (candidates.nearest && uses_nearest()) return lookup_step::check_first;
  switch (mode_) {
    case tuning_mode::cached: return lookup_step::fail;
    case tuning_mode::defaults: return lookup_step::test_default;
    case tuning_mode::tune:
    case tuning_mode::resume:
    case tuning_mode::force: break;
  }
  return lookup_step::tune;
}

}  // namespace tune
