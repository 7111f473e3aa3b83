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
  generate,   ///< the author's function, with whatever it compiles
  first_run,  ///< the first run, and the check of its result
  run,        ///< another run that is not timed
  samples,    ///< runs that are timed
};

/// "the first run", for people.
constexpr std::string_view step_name(step_kind kind) noexcept {
  constexpr detail::word_table<step_kind, 4> words{
      {"its preparation", "its first run", "a run", "timed runs"}};
  return words.word(kind);
}

/// A step that begins.
struct search_step {
  step_kind kind = step_kind::generate;
  std::size_t index = 0;                     ///< the configuration's number in the space
  std::vector<named_value> configuration{};  ///< and its fields
  std::uint64_t launches = 0;                ///< runs that the step consists of; zero: not known
  run_time expected{0};                      ///< the time that they should take; zero: not known
};

/// A tuning inside another: an autotune function that is called while one is under way.
struct nested_tuning {
  function_identity function{};
  std::vector<named_value> key{};
  device_identity device{};
  std::string database{};  ///< the path of the one that keeps its results; empty: none does
};

/// A step begins, which may never end.
struct step_begin {
  search_step step{};
};
/// The step that began last has ended.
struct step_end {};
/// Within a step: a program is compiled on the spot, for which there is a limit of its own.
struct compile_begin {};
/// That program has been compiled.
struct compile_end {};
/// A tuning inside another begins: the events up to its inner_end are of that tuning.
struct inner_begin {
  nested_tuning inner{};
};
/// A search of the tuning that began last.
struct inner_search {
  search_identity search{};
};
/// The tuning that began last has ended.
struct inner_end {};
/// The result of a call inside the outermost tuning, for detail::keep_made.
struct inner_result {
  std::string name{};
  std::vector<named_value> values{};
  bool for_process = false;
};
/// A wait for another thread or process begins.
struct wait_begin {
  std::chrono::milliseconds limit{0};  ///< the longest that it can take
};
/// That wait is over.
struct wait_end {};

/// An event within a search that limits of time depend on.
using step_event =
    std::variant<step_begin, step_end, compile_begin, compile_end, inner_begin, inner_search,
                 inner_end, inner_result, wait_begin, waiting_event, wait_end>;

/// Is called for each step event, on the thread of the search. The steps of a search do not
/// overlap. A tuning that begins within a step, or between two, has steps of its own, and ends
/// before the step around it goes on. An exception for a begin leaves the search; for an end it
/// must not throw.
using step_listener = std::function<void(const step_event&)>;

class loaded_programs;
class step_gate;
class trial_judge;

namespace detail {
class memory_quota;
}

/// Calls of a search that guard it against its configurations.
struct step_hooks {
  const step_listener* listener = nullptr;  ///< null: there is none; outlives the search
  /// Returns true if the device still works, where an error does not say so; empty: errors do.
  std::function<bool()> device_works{};
  /// Returns true if the device's context works after it has reported a fault, so that the search
  /// can go on; empty: it does not.
  std::function<bool()> survives_faults{};
  const trial_judge* judge =
      nullptr;                ///< calls the probes; null: there are none; outlives the search
  step_gate* gate = nullptr;  ///< passed before each step; null: there is none; outlives the search
  /// Counts the device memory that the search holds; null: nothing does.
  std::shared_ptr<detail::memory_quota> memory{};
  loaded_programs* programs = nullptr;  ///< kept from one search to the next; null: none are
  bool is_warm = false;  ///< true if the device has just worked, for the search before
};

/// Has the watchdog of the hooks watch one step, for as long as this lives.
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
