// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/search/space/space.hpp"
#include "libtune/tune/search_defaults.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune {

class context;
struct tuning_options;
struct tuning_subject;

namespace detail {
class search_course;
struct session_setup;
}  // namespace detail

/// The context and the options with which an autotune function tunes. Made by the autotuner, or by
/// hand to tune without one. One thread uses it.
class tuning_session {
 public:
  /// A session without an autotuner: it reads and writes no database. The environment overrides the
  /// options, as for autotuners. @throws environment_error
  tuning_session(const tune::context& context, tuning_subject subject,
                 const tuning_options& options);
  /// For autotuners only.
  explicit tuning_session(detail::session_setup setup);
  ~tuning_session();
  tuning_session(const tuning_session&) = delete;
  tuning_session& operator=(const tuning_session&) = delete;

  /// The context to compile, allocate and measure in.
  const tune::context& context() const noexcept;
  /// The options that the session was made with. The reference is valid as long as the session.
  const tuning_options& options() const noexcept;

  /// The bytes of device memory that the tuning may hold at once (tuning_options::memory), at most
  /// the memory that is free now. The memory that it holds already counts.
  std::size_t memory_budget() const;

  /// Returns the bytes of arrays to tune on: the wanted bytes, or as many as memory_budget allows,
  /// with a log line. A function that calls this before it allocates is tuned on smaller arrays if
  /// memory is short.
  /// @param wanted  of all arrays together, copies and answers included
  /// @param least   with fewer bytes a tuning means nothing, and is postponed
  /// @throws too_little_memory_error if the least does not fit
  std::size_t fit_memory(std::size_t wanted, std::size_t least = 1) const;

  /// Searches a space and returns the best configuration by the goal: that with the least median
  /// time, unless the autotuner, the application or LIBTUNE_OBJECTIVE sets another goal.
  /// @param space     the configurations
  /// @param generate  called with a configuration: compiles it, prepares its inputs and returns a
  ///                  measure; nullptr skips it, and the text of an exception becomes a reason:
  ///                  neither ends the search
  /// @param defaults  metrics, and options of the search that neither the application nor the
  ///                  environment gives
  /// @throws empty_space_error, tuning_failed_error (with every reason)
  template <fielded Tuning, std::invocable<const Tuning&> Generate>
  requires std::convertible_to<std::invoke_result_t<Generate&, const Tuning&>, measure> Tuning
  tune(const space<Tuning>& space, Generate&& generate, const search_defaults& defaults = {}) {
    const search_problem problem{
        .space = space.core(),
        .configuration = [&](std::size_t index) { return to_values(space[index]); },
        .needs = [&](std::size_t index) { return space.resources_of(space[index]); },
        .generate = [&](std::size_t index) -> measure { return generate(space[index]); },
        .find =
            [&](const std::vector<named_value>& values) {
              return space.find(from_values<Tuning>(values));
            },
        .contains =
            [&](const std::vector<named_value>& values) {
              return space.contains(from_values<Tuning>(values));
            },
        .needs_of =
            [&](const std::vector<named_value>& values) {
              return space.resources_of(from_values<Tuning>(values));
            },
        .metrics = defaults.metrics,
        .why_not = [&](const std::vector<metric>& figures) { return space.why_not(figures); }};
    return space[search(problem, defaults)];
  }

  /// Searches a space that is described at run time. Returns the number of the configuration with
  /// the least median time. @throws as above
  std::size_t tune(const search_problem& problem, const search_defaults& defaults = {}) {
    return search(problem, defaults);
  }

  /// The autotuner's test default: a configuration that works on every device. Its result can serve
  /// as the answer (take_answer).
  /// @throws argument_error in a session without an autotuner, type_error for another Tuning
  template <fielded Tuning>
  Tuning test_default() const {
    return from_values<Tuning>(test_default_values());
  }

  /// Returns the median time of the best configuration of the last completed search; empty before
  /// that.
  std::optional<run_time> best_score() const noexcept;

 private:
  friend class detail::search_course;
  struct state;

  std::size_t search(const search_problem& problem, const search_defaults& defaults);
  const std::vector<named_value>& test_default_values() const;

  std::unique_ptr<state> state_;
};

}  // namespace tune
