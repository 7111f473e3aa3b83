// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A search on a simulated device that is killed and started again, while the device becomes faster
// or slower in between. The search is the real one; its device, its clock and its database are not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libtune/measure/timing/measurable.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "tests/measure/simulated_search.hpp"
#include "tests/tune/fake_compile_service.hpp"

namespace sample {

/// When a part of a search is killed.
enum class kill_stage : std::uint8_t {
  screening,    ///< while some have not been tried
  final_round,  ///< when all have been tried
  afterwards,   ///< when it has ended, before its result is stored
  never
};

class resumed_search {
 public:
  resumed_search(const tune::testing::simulated_scenario& scenario, std::uint64_t seed)
      : device_(scenario, seed), chance_(seed * 77 + 5) {}

  std::size_t size() const noexcept { return device_.size(); }
  /// By how much a configuration is slower than the best in truth.
  double excess(std::size_t index) const { return device_.excess(index); }
  /// How much longer everything takes from now on than at the beginning.
  void set_level(double level) noexcept { level_ = level; }
  double level() const noexcept { return level_; }
  /// Configurations whose result is wrong, where results are checked.
  std::set<std::size_t> wrong;
  tune::tuning_options options{.strategy = "exhaustive"};
  /// That each step passes; null: there is none.
  tune::step_gate* gate = nullptr;
  /// The device, with the clock of the search.
  const tune::testing::fake_device& fake() const noexcept { return fake_; }

  /// Searches until it is killed. @returns the winner, if it was not
  std::optional<std::size_t> search(kill_stage until = kill_stage::never) {
    const auto kept = std::make_shared<recorder>(*this);
    plan_kill(until);
    const tune::step_listener kills = [this](const tune::step_event& event) { kill(event); };
    tune::tuning_options with = options;
    with.observers = {kept};
    measured_.clear();
    try {
      const tune::trial best =
          tune::run_search(problem(), {}, fake_.device(), with, with.observers, fake_.clock(),
                           nowhere_, [&] { return tune::prior_knowledge{.unfinished = stored_}; },
                           {}, {.listener = &kills, .gate = gate});
      if (until == kill_stage::afterwards) return std::nullopt;
      return best.index;
    } catch (const killed&) {
      return std::nullopt;
    }
  }

  /// What the database has.
  const std::vector<tune::stored_trial>& stored() const noexcept { return stored_; }
  /// The configurations that the last part measured.
  const std::set<std::size_t>& measured() const noexcept { return measured_; }
  tune::testing::simulated_chance& chance() noexcept { return chance_; }

 private:
  struct killed {};

  /// The database.
  struct recorder final : tune::observer {
    explicit recorder(resumed_search& of) : of(of) {}
    void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
      keep(made);
    }
    void trial_refined(const tune::tuning_subject&, const tune::trial& made) override {
      keep(made);
    }
    void keep(const tune::trial& made) const {
      tune::stored_trial stored = to_stored(made);
      const auto place =
          std::ranges::find(of.stored_, stored.configuration, &tune::stored_trial::configuration);
      if (place == of.stored_.end()) {
        of.stored_.push_back(std::move(stored));
      } else {
        *place = std::move(stored);
      }
    }
    resumed_search& of;
  };

  /// Ends the process, as it were.
  void kill(const tune::step_event& event) {
    const auto* begun = std::get_if<tune::step_begin>(&event);
    if (begun == nullptr || begun->step.kind != tune::step_kind::samples) return;
    measured_.insert(begun->step.index);
    if (stored_.size() >= kill_after_trials_ && steps_left_-- == 0) throw killed{};
  }

  /// Runs of a configuration, each with a time of its own.
  class simulated_runs final : public tune::detail::measurable {
   public:
    simulated_runs(resumed_search& of, std::size_t index) : of_(of), index_(index) {}

   private:
    void do_run(int runs) override {
      while (runs-- > 0) of_.run(index_);
    }
    std::vector<tune::run_time> do_sample(int iterations) override {
      std::vector<tune::run_time> times;
      for (int i = 0; i < iterations; ++i) times.push_back(of_.run(index_));
      return times;
    }
    void do_finish() override {}
    void do_cache(tune::cache_state) override {}
    tune::run_time do_timer_resolution() const override { return tune::run_time::zero(); }

    resumed_search& of_;
    std::size_t index_;
  };

  void plan_kill(kill_stage until) {
    const auto least = std::min(stored_.size(), size() - 1);
    kill_after_trials_ = size() + 1;
    if (until == kill_stage::screening) {
      kill_after_trials_ = static_cast<std::size_t>(
          chance_.uniform(static_cast<double>(least), static_cast<double>(size())));
    }
    if (until == kill_stage::final_round) kill_after_trials_ = size();
    steps_left_ = static_cast<int>(chance_.uniform(0, 30));
  }

  tune::search_problem problem() {
    return numbered_problem(size(), [this](std::size_t i) {
      return tune::measure(std::make_unique<simulated_runs>(*this, i))
          .check([this, i]() -> std::optional<std::string> {
            if (wrong.contains(i)) return "it is wrong";
            return std::nullopt;
          });
    });
  }

  tune::run_time run(std::size_t index) {
    const tune::run_time time = device_.run(index) * level_;
    fake_.advance(std::chrono::nanoseconds(std::llround(time.count())));
    return time;
  }

  static tune::testing::fake_device_options cpu() {
    tune::testing::fake_device_options made;
    made.kind = tune::device_kind::cpu;  // which is not warmed up
    return made;
  }

  tune::testing::simulated_search device_;
  tune::testing::simulated_chance chance_;
  tune::testing::fake_device fake_{cpu()};
  fake_compile_service nowhere_{0};
  double level_ = 1;
  std::vector<tune::stored_trial> stored_;
  std::set<std::size_t> measured_;
  std::size_t kill_after_trials_ = 0;
  int steps_left_ = 0;
};

}  // namespace sample
