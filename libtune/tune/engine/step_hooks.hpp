// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
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
  run,        ///< another run that nobody times
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
  run_time expected{0};                      ///< what they should take; zero: not known
};

/// A tuning inside another: an autotune function that is called while one is under way.
struct nested_tuning {
  function_identity function{};
  std::vector<named_value> key{};
  device_identity device{};
  std::string database{};  ///< the path of the one that keeps its results; empty: none does
};

/// Is called for each step, on the thread of the search. The steps of a search do not overlap. A
/// tuning that begins within a step, or between two, has steps of its own, and ends before the
/// step around it goes on. An exception of the listener leaves the search.
class step_listener {
 public:
  step_listener() = default;
  virtual ~step_listener() = default;
  step_listener(const step_listener&) = delete;
  step_listener& operator=(const step_listener&) = delete;

  virtual void step_begins(const search_step& step) = 0;
  virtual void step_ends() noexcept = 0;
  /// Within a step: a program is compiled on the spot, for which there is a limit of its own.
  virtual void compiling_begins() noexcept {}
  virtual void compiling_ends() noexcept {}

  virtual void tuning_begins(const nested_tuning&) {}
  /// A search of the tuning that began last, unless that has ended.
  virtual void search_begins(const search_identity&) {}
  virtual void tuning_ends() noexcept {}
  /// The result of a call inside the outermost tuning: see detail::keep_made.
  virtual void tuning_made(const std::string& /*name*/, const std::vector<named_value>&,
                           bool /*for_process*/) {}

  /// Others are waited for, for so long at most.
  virtual void wait_begins(std::chrono::milliseconds /*limit*/) {}
  virtual void waiting(const waiting_event&) {}
  virtual void wait_ends() noexcept {}
};

/// Calls of a search that guard it against its configurations.
struct step_hooks {
  step_listener* listener = nullptr;  ///< null: there is none; outlives the search
  /// Returns true if the device still works, where an error does not say so; empty: errors do.
  std::function<bool()> device_works{};
  /// Returns true if the device's context works after it has reported a fault, so that the search
  /// can go on; empty: it does not.
  std::function<bool()> survives_faults{};
};

/// Has the watchdog of the hooks watch one step, for as long as this lives.
class [[nodiscard]] watchdog_scope {
 public:
  watchdog_scope(const step_hooks& hooks, const search_step& step) : listener_(hooks.listener) {
    if (listener_ != nullptr) listener_->step_begins(step);
  }
  ~watchdog_scope() {
    if (listener_ != nullptr) listener_->step_ends();
  }
  watchdog_scope(const watchdog_scope&) = delete;
  watchdog_scope& operator=(const watchdog_scope&) = delete;

 private:
  step_listener* listener_;
};

}  // namespace tune
