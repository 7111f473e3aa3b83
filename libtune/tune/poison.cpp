// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/poison.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tune {
namespace {

bool is_poison(outcome result, const std::vector<std::string>& programs) {
  switch (result) {
    case outcome::device_fault: return true;
    case outcome::timed_out:
    case outcome::crashed:
    case outcome::out_of_memory: return programs.empty();
    default: return false;
  }
}

}  // namespace

std::span<const std::string> poisonous_outcomes() {
  static const auto* const words = new std::array{
      std::string(outcome_name(outcome::device_fault)),
      std::string(outcome_name(outcome::timed_out)), std::string(outcome_name(outcome::crashed)),
      std::string(outcome_name(outcome::out_of_memory))};
  return *words;
}

bool is_poison(const stored_trial& trial) {
  const auto result = outcome_from_name(trial.outcome);
  return result && !trial.remembered && is_poison(*result, trial.programs);
}

bool is_poison(const trial& trial) { return is_poison(trial.outcome, trial.programs); }

}  // namespace tune
