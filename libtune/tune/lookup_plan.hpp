// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "libtune/store/database/match.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// The next step of a lookup.
enum class lookup_step : std::uint8_t {
  use,           ///< the result of this device is used
  check_first,   ///< the nearest result is used if it works on the device
  verify,        ///< the nearest results and a few other configurations are measured
  tune,          ///< a search
  fail,          ///< not_tuned_error
  test_default,  ///< the test default is used
};

/// The words of a step: "use", "check first", "verify", "tune", "fail" or "test default".
const char* lookup_step_name(lookup_step step) noexcept;

/// The candidates for an answer found so far.
struct lookup_candidates {
  bool exact = false;    ///< a result of this device that the present function accepts
  bool nearest = false;  ///< a result of another device
  bool stopped = false;  ///< a search that its budget ended
};

/// The policy of a lookup: decides the step for a key from the settings and the candidates. A pure
/// value; autotuners, tuning ahead of use and `tunedb explain` use the same one.
class lookup_plan {
 public:
  constexpr lookup_plan(tuning_mode mode, match_mode match) : mode_(mode), match_(match) {}

  /// True if a result of this device is used.
  constexpr bool uses_exact() const noexcept { return mode_ != tuning_mode::force; }
  /// True if a working result of another device is used.
  constexpr bool uses_nearest() const noexcept {
    return is_behind() || (uses_exact() && match_ != match_mode::exact && !verifies());
  }
  /// True if a key without a result of this device is tuned while the application runs.
  constexpr bool is_behind() const noexcept { return mode_ == tuning_mode::behind; }
  /// True if results of other devices are measured instead of a search.
  constexpr bool verifies() const noexcept {
    return match_ == match_mode::verify && (mode_ == tuning_mode::tune || resumes());
  }
  /// True if a search that its budget ended is continued, although it has a result.
  constexpr bool resumes() const noexcept { return mode_ == tuning_mode::resume; }
  /// True if a new result replaces the present one.
  constexpr bool replaces() const noexcept { return mode_ == tuning_mode::force || resumes(); }

  /// True if it tunes even with a result.
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
