// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "libtune/store/database/match.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// The answer of a lookup.
enum class lookup_step : std::uint8_t {
  use,           ///< the result of this device is used
  check_first,   ///< the nearest result that turns out to work on the device is used
  verify,        ///< the nearest results and a few other configurations are measured
  tune,          ///< a search
  fail,          ///< not_tuned_error
  test_default,  ///< the test default is used
};

/// "use", "check first", "verify", "tune", "fail" or "test default".
const char* lookup_step_name(lookup_step step) noexcept;

/// The candidates for an answer, as far as they have been looked for.
struct lookup_candidates {
  bool exact = false;    ///< a result of this very device, which the present function accepts
  bool nearest = false;  ///< a result of another device
  bool stopped = false;  ///< a search that its budget ended
};

/// The policy of a lookup: decides from the settings and the candidates what happens for a key. A
/// pure value, by which autotuners, tuning ahead of use and `tunedb explain` decide alike.
class lookup_plan {
 public:
  constexpr lookup_plan(tuning_mode mode, match_mode match) : mode_(mode), match_(match) {}

  /// True if a result of this device is used where there is one.
  constexpr bool uses_exact() const noexcept { return mode_ != tuning_mode::force; }
  /// True if a result of another device is used where it works.
  constexpr bool uses_nearest() const noexcept {
    return uses_exact() && match_ != match_mode::exact && !verifies();
  }
  /// True if results of other devices are measured in place of a search.
  constexpr bool verifies() const noexcept {
    return match_ == match_mode::verify && (mode_ == tuning_mode::tune || resumes());
  }
  /// True if a search that its budget ended goes on, though it has a result.
  constexpr bool resumes() const noexcept { return mode_ == tuning_mode::resume; }
  /// True if a new result replaces the one there is.
  constexpr bool replaces() const noexcept { return mode_ == tuning_mode::force || resumes(); }

  /// True if it tunes whatever results there are.
  constexpr bool tunes_anew(const lookup_candidates& candidates) const noexcept {
    return !uses_exact() || (resumes() && candidates.stopped);
  }

  /// Returns the step for these candidates.
  lookup_step step(const lookup_candidates& candidates) const noexcept;

 private:
  tuning_mode mode_;
  match_mode match_;
};

}  // namespace tune
