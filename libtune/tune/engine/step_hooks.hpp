// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

/// A step of a search that may never end, or may end the process.
enum class step_kind : std::uint8_t {
  generate,   ///< the author's function, with its compilations
  first_run,  ///< the first run, and the check of its result
  run,        ///< another run that is not timed
  samples,    ///< runs that are timed
};

/// The words of a kind for users, such as "the first run".
constexpr std::string_view step_name(step_kind kind) noexcept {
  constexpr detail::word_table<step_kind, 4> words{
      {"its preparation", "its first run", "a run", "timed runs"}};
  return words.word(kind);
}

/// The start of a step.
struct search_step {
  step_kind kind = step_kind::generate;
  std::size_t index = 0;                     ///< the configuration's number in the space
  std::vector<named_value> configuration{};  ///< and its fields
  std::uint64_t launches = 0;                ///< runs of the step; zero if unknown
  run_time expected{0};                      ///< the expected time of the runs; zero if unknown
};

/// A nested tuning: an autotune function that is called during another.
struct nested_tuning {
  function_identity function{};
  std::vector<named_value> key{};
  device_identity device{};
  std::string database{};  ///< the path of the database for its results; empty: not stored
};

/// The start of a step, which may never end.
struct step_begin {
  search_step step{};
};
/// The end of the latest step.
struct step_end {};
/// Within a step: the start of a compilation on the spot, which has a limit of its own.
struct compile_begin {};
/// The end of that compilation.
struct compile_end {};
/// The start of a nested tuning: the events up to its inner_end are of that tuning.
struct inner_begin {
  nested_tuning inner{};
};
/// A search of the latest tuning.
struct inner_search {
  search_identity search{};
};
/// The end of the latest tuning.
struct inner_end {};
/// The result of a call inside the outermost tuning, for detail::keep_made.
struct inner_result {
  std::string name{};
  std::vector<named_value> values{};
  bool for_process = false;
};
/// The start of a wait for another thread or process.
struct wait_begin {
  std::chrono::milliseconds limit{0};  ///< the longest wait
};
/// The end of that wait.
struct wait_end {};

/// An event within a search that affects time limits.
using step_event =
    std::variant<step_begin, step_end, compile_begin, compile_end, inner_begin, inner_search,
                 inner_end, inner_result, wait_begin, waiting_event, wait_end>;

/// Called for each step event, on the thread of the search. The steps of a search do not overlap. A
/// tuning that begins within a step, or between two, has steps of its own, and ends before the
/// outer step continues. An exception for a begin leaves the search; for an end it must not throw.
using step_listener = std::function<void(const step_event&)>;

class loaded_programs;
class step_gate;
class trial_judge;

namespace detail {
class memory_quota;
}

/// Calls of a search that guard it against its configurations.
struct step_hooks {
  const step_listener* listener = nullptr;  ///< may be null; must outlive the search
  /// Returns true if the device still works after an error that leaves this open; empty: an error
  /// means that it does not.
  std::function<bool()> device_works{};
  /// Returns true if the device's context still works after a reported fault, so that the search
  /// can continue; empty: it does not.
  std::function<bool()> survives_faults{};
  const trial_judge* judge = nullptr;  ///< calls the probes; may be null; must outlive the search
  step_gate* gate = nullptr;  ///< entered before each step; may be null; must outlive the search
  /// Counts the device memory of the search; may be null.
  std::shared_ptr<detail::memory_quota> memory{};
  loaded_programs* programs = nullptr;  ///< kept between searches; null: not kept
  bool is_warm = false;  ///< true if the device has just worked, for the previous search
};

/// Makes the watchdog of the hooks watch one step, during the life of this object.
class [[nodiscard]] watchdog_scope {
 public:
  watchdog_scope(const step_hooks& hooks, const search_step& step) : listener_(hooks.listener) {
    if (listener_ != nullptr) (*listener_)(step_begin{step});
  }
  ~watchdog_scope() {
    if (listener_ != nullptr) (*listener_)(step_end{});
  }
  watchdog_scope(const watchdog_scope&) = delete;
  watchdog_scope& operator=(const watchdog_scope&) = delete;

 private:
  const step_listener* listener_;
};

}  // namespace tune
