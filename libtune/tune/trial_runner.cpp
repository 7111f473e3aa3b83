// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/trial_runner.hpp"

#include <cassert>
#include <exception>

#include "libtune/base/error.hpp"
#include "libtune/compile/keep_no_programs.hpp"
#include "libtune/store/database_use.hpp"
#include "libtune/tune/limits.hpp"
#include "libtune/tune/measuring_turn.hpp"

namespace tune {
namespace {

void fail(trial& result, outcome why, std::string reason) {
  result.outcome = why;
  result.reason = std::move(reason);
}

outcome outcome_of(const device_error& failure, outcome otherwise) {
  switch (failure.failure()) {
    case device_failure::over_limit:
    case device_failure::out_of_memory: return outcome::over_limit;
    case device_failure::invalid_launch: return outcome::launch_failed;
    case device_failure::invalid_binary:
    case device_failure::other: break;
  }
  return otherwise;
}

// Runs a step and turns whatever it throws into an outcome. Returns whether it went well.
template <class Step>
bool attempt(trial& result, outcome device_failed, Step&& step) {
  try {
    step();
    return true;
  } catch (const build_error& failure) {
    fail(result, outcome::compile_failed, failure.what());
  } catch (const device_error& failure) {
    fail(result, outcome_of(failure, device_failed), failure.what());
  } catch (const std::exception& failure) {
    fail(result, outcome::failed, failure.what());
  } catch (...) {
    fail(result, outcome::failed, "something that is not a std::exception was thrown");
  }
  return false;
}

void measure_it(trial& result, measure& prepared, const device& device,
                const measure_settings& settings, const wall_clock& now,
                std::chrono::milliseconds wait) {
  const measuring_turn turn(device.info(), wait);
  prepared.run();
  if (auto wrong = prepared.verify()) {
    fail(result, outcome::wrong_result, std::move(*wrong));
    return;
  }
  result.samples = take_samples(prepared, settings, now);
  result.score = score(result.samples);
  if (result.score) {
    result.outcome = outcome::measured;
  } else {
    fail(result, outcome::invalid_time, "a time is NaN, infinite, zero or negative");
  }
}

void try_it(trial& result, const search_problem& problem, const device& device,
            const measure_settings& settings, const wall_clock& now,
            std::chrono::milliseconds wait) {
  const auto start = now();
  if (const auto asked = problem.needs(result.index)) {
    if (auto broken = find_broken_limit(*asked, device.limits())) {
      fail(result, outcome::over_limit, "it needs " + std::move(*broken));
      return;
    }
  }
  measure prepared(nullptr);
  const bool generated = attempt(result, outcome::failed, [&] {
    const keep_no_programs searching;
    prepared = problem.generate(result.index);
  });
  result.preparation = now() - start;
  if (!generated) return;
  if (!prepared) {
    fail(result, outcome::skipped, "the function that generates it returned nothing");
    return;
  }
  attempt(result, outcome::launch_failed,
          [&] { measure_it(result, prepared, device, settings, now, wait); });
}

}  // namespace

trial run_trial(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                std::chrono::milliseconds wait) {
  assert(!detail::database_use::is_active() && "other processes would wait for a trial");
  trial result;
  result.index = index;
  const auto start = now();
  attempt(result, outcome::failed, [&] {
    result.configuration = problem.configuration(index);
    try_it(result, problem, device, settings, now, wait);
  });
  result.elapsed = now() - start;
  return result;
}

}  // namespace tune
