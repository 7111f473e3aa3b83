// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/attempt_runner.hpp"

#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"
#include "libtune/tune/engine/search_run.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"

namespace tune {

attempt_runner::attempt_runner(const search_setting& setting, search_timing& timing,
                               const compile_pipeline& pipeline, const attempts& kept)
    : setting_(setting),
      timing_(timing),
      pipeline_(pipeline),
      kept_(kept),
      check_(setting.judge.judges_results() ? result_check::every
                                            : setting.options.verify.value_or(result_check::every)),
      measure_(setting.options.measure.value_or(measure_settings{})),
      warmed_up_(setting.hooks.is_warm) {}

const known_failures& attempt_runner::nothing_known() {
  static const detail::never_destroyed<known_failures> nothing;
  return *nothing;
}

std::unique_ptr<trial_attempt> attempt_runner::make(std::size_t index,
                                                    const known_failures& known) const {
  auto attempt = std::make_unique<trial_attempt>(setting_.problem, index, setting_.device, measure_,
                                                 setting_.now, setting_.hooks);
  attempt->admit(known);
  return attempt;
}

// A configuration that runs out of memory may work once those kept for the race have released
// theirs.
void attempt_runner::with_room(trial_attempt& attempt, const std::function<void()>& step) {
  yield_memory();
  step();
  if (!may_retry(attempt)) return;
  attempt.retry();
  step();
}

bool attempt_runner::generate(trial_attempt& attempt) {
  with_room(attempt, [&] {
    if (setting_.service.capacity() == 0) {
      attempt.generate();
    } else {
      attempt.generate_prebuilt();
    }
  });
  return attempt.is_live();
}

// If it requests another program than before, that is compiled on the spot.
bool attempt_runner::generate_again(trial_attempt& attempt) {
  if (!generate(attempt) && attempt.has_wanted()) {
    attempt.forget_programs();
    generate(attempt);
  }
  return attempt.is_live();
}

// Some drivers allocate only at the first run.
bool attempt_runner::try_out(trial_attempt& attempt, const trial_attempt::slow_test& is_slow) {
  with_room(attempt, [&] {
    if (!attempt.is_live() && !generate_again(attempt)) return;
    first_run(attempt, is_slow);
    const bool is_cold = !std::exchange(warmed_up_, warmed_up_ || attempt.is_live());
    if (is_cold && attempt.is_live() && setting_.device.kind() == device_kind::gpu) {
      measuring([&] { attempt.warm_up_device(); });
    }
  });
  return attempt.is_live();
}

void attempt_runner::first_run(trial_attempt& attempt, const trial_attempt::slow_test& is_slow) {
  measuring([&] {
    if (check_ == result_check::every) {
      attempt.try_out(is_slow);
    } else {
      attempt.warm_up(is_slow);
    }
  });
}

void attempt_runner::check(trial_attempt& attempt) {
  measuring([&] { attempt.try_out(); });
  if (!attempt.over()) checked_.insert(attempt.index());
}

bool attempt_runner::release_all() {
  bool any = false;
  for (const auto& [index, attempt] : kept_) {
    any = any || attempt->is_live();
    attempt->release();
  }
  return any;
}

// Another thread has no room for an allocation. Memory that the author's function has allocated
// outside of its configurations must be released too, so the whole call is left.
void attempt_runner::yield_memory() {
  detail::require_not_stopped();
  const auto& memory = setting_.hooks.memory;
  if (memory == nullptr || !memory->gate()->is_wanted()) return;
  release_all();
  throw detail::memory_reclaimed{};
}

bool attempt_runner::may_retry(const trial_attempt& attempt) {
  if (!attempt.ran_out_of_memory()) return false;
  const bool released = release_all();
  return released || attempt.ran_out_of_host_memory();
}

void attempt_runner::measuring(const std::function<void()>& step) {
  timing_.measuring(step, pipeline_.compiling() > 0);
}

}  // namespace tune
