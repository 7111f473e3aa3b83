// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches in slices, on a simulated device by its clock, beside those of a device that is free.
#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "libtune/extra/behind/duty_cycle.hpp"
#include "libtune/tune/engine/step_gate.hpp"
#include "libtune/tune/error.hpp"
#include "tests/tune/resumed_search.hpp"

namespace sliced_search_test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// A gate on the clock of a simulated device.
class virtual_gate : public tune::step_gate {
 public:
  virtual_gate(const tune::testing::fake_device& on, double share) : on_(on), share_(share) {}

  void enter(bool, const std::function<std::shared_ptr<void>()>& waits) override {
    leave(tune::step_kind::generate);
    const auto pause = cycle_.next(share_) - now();
    if (pause.count() > 0) {
      const auto waiting = waits();
      on_.advance(pause);
    }
    entered_ = now();
    ++slices;
  }
  void leave(tune::step_kind) noexcept override {
    if (!entered_) return;
    const nanoseconds time = now() - *entered_;
    entered_.reset();
    cycle_.used(time, now(), share_);
    used += time;
    longest = std::max(longest, time);
  }
  bool is_due() const noexcept override { return checks_are_long; }
  nanoseconds visit() const noexcept override { return 250us; }
  bool is_cold() const noexcept override { return false; }
  nanoseconds slice() const noexcept override { return 1ms; }
  bool is_too_long(tune::run_time one_run) const noexcept override {
    return one_run.count() > longest_run;
  }
  bool has_windows() const noexcept override { return false; }
  void note_deferred() noexcept override { ++deferred; }
  void measure_on(const tune::context&) override {}
  bool are_samples_good() override { return true; }
  double stretch() const noexcept override { return 1 / share_; }

  double longest_run = 1e6;
  bool checks_are_long = false;
  int slices = 0;
  int deferred = 0;
  nanoseconds used{0};
  nanoseconds longest{0};

 private:
  std::chrono::steady_clock::time_point now() const { return on_.clock()(); }

  const tune::testing::fake_device& on_;
  double share_;
  tune::detail::duty_cycle cycle_;
  std::optional<std::chrono::steady_clock::time_point> entered_;
};

nanoseconds time_of(sample::resumed_search& search, std::size_t& winner) {
  const auto begin = search.fake().clock()();
  winner = search.search().value();
  return search.fake().clock()() - begin;
}

TEST_CASE("a search in slices keeps its share, and finds what one of a free device does") {
  int searches = 0;
  int worse = 0;
  nanoseconds all_free{0};
  nanoseconds all_sliced{0};
  for (const auto& scenario : tune::testing::simulated_scenarios()) {
    CAPTURE(scenario.name);
    for (const std::uint64_t seed : {1, 2}) {
      CAPTURE(seed);
      sample::resumed_search free(scenario, seed);
      std::size_t offline = 0;
      const nanoseconds whole = time_of(free, offline);

      sample::resumed_search behind(scenario, seed);
      virtual_gate gate(behind.fake(), 0.05);
      behind.gate = &gate;
      std::size_t found = 0;
      const nanoseconds sliced = time_of(behind, found);

      const double share =
          static_cast<double>(gate.used.count()) / static_cast<double>(sliced.count());
      CHECK(share > 0.045);
      CHECK(share < 0.0551);
      // One run more than fits, and the check of a configuration, which is one run.
      CHECK(gate.longest < 3ms);
      // The device may change meanwhile, so that more is measured again.
      CHECK(static_cast<double>(sliced.count()) < 21.5 * static_cast<double>(whole.count()));
      all_free += whole;
      all_sliced += sliced;
      CHECK(behind.excess(found) < 0.03);
      worse += behind.excess(found) > std::max(0.01, free.excess(offline)) ? 1 : 0;
      ++searches;
    }
  }
  CHECK(20 * worse <= searches);
  CHECK(all_sliced <= 20 * all_free);
}

TEST_CASE(
    "what is measured beside an application is marked, and left out where it takes too long") {
  sample::resumed_search behind(tune::testing::simulated_scenarios().front(), 1);
  virtual_gate gate(behind.fake(), 0.5);
  gate.longest_run = 150e3;  // the best takes 0.1 ms
  behind.gate = &gate;
  const auto found = behind.search();
  REQUIRE(found);
  CHECK(behind.excess(*found) < 0.01);
  int deferred = 0;
  for (const tune::stored_trial& each : behind.stored()) {
    CHECK(tune::find_metric(each.metrics, tune::measured_behind) != nullptr);
    const bool left_out = tune::find_metric(each.metrics, tune::deferred_behind) != nullptr;
    CHECK(left_out == (each.outcome == "skipped"));
    if (left_out) CHECK(each.message.find("LIBTUNE_SLICE") != std::string::npos);
    deferred += left_out ? 1 : 0;
  }
  CHECK(deferred > 0);
  CHECK(deferred == gate.deferred);
}

/// A disturbance makes the first run of each configuration look too long, as its sentinel tells.
class disturbed_gate : public virtual_gate {
 public:
  using virtual_gate::virtual_gate;

  bool is_too_long(tune::run_time one_run) const noexcept override {
    const bool is_new = runs_.insert(one_run.count()).second;
    if (is_new && std::exchange(is_calm_, false)) calm_.insert(one_run.count());
    is_asked_ = !calm_.contains(one_run.count());
    return is_asked_ || virtual_gate::is_too_long(one_run);
  }
  bool are_samples_good() override {
    if (!std::exchange(is_asked_, false)) return true;
    ++disturbed;
    is_calm_ = !lasts;
    return false;
  }

  /// The number of runs whose time was asked about.
  int runs() const { return static_cast<int>(runs_.size()); }

  bool lasts = false;
  int disturbed = 0;

 private:
  mutable std::set<double> runs_;  // their times
  mutable std::set<double> calm_;  // of these those that were not disturbed
  mutable bool is_calm_ = false;
  mutable bool is_asked_ = false;
};

TEST_CASE("a run that a disturbance has made too long is made again, once") {
  sample::resumed_search behind(tune::testing::simulated_scenarios().front(), 1);
  disturbed_gate gate(behind.fake(), 0.5);
  behind.gate = &gate;
  const auto found = behind.search();
  REQUIRE(found);
  CHECK(behind.excess(*found) < 0.01);
  CHECK(gate.deferred == 0);
  CHECK(gate.disturbed >= static_cast<int>(behind.size()));

  sample::resumed_search busy(tune::testing::simulated_scenarios().front(), 1);
  disturbed_gate always(busy.fake(), 0.5);
  always.lasts = true;
  busy.gate = &always;
  CHECK_THROWS_WITH(busy.search(), doctest::Contains("skipped: a run takes"));
  CHECK(always.deferred == static_cast<int>(busy.size()));
  CHECK(always.runs() == 2 * always.deferred);
  CHECK(always.disturbed == always.deferred);
}

TEST_CASE("a check that lasts longer than a slice is divided, and finds the same") {
  const auto scenario = tune::testing::simulated_scenarios().front();
  sample::resumed_search whole(scenario, 1);
  virtual_gate once(whole.fake(), 0.5);
  whole.gate = &once;
  const auto found = whole.search();
  sample::resumed_search parts(scenario, 1);
  virtual_gate divided(parts.fake(), 0.5);
  divided.checks_are_long = true;
  parts.gate = &divided;
  CHECK(parts.search() == found);
  CHECK(divided.slices >= once.slices + static_cast<int>(parts.size()));
}

TEST_CASE("a search that is stopped within a check leaves no trial of it") {
  sample::resumed_search behind(tune::testing::simulated_scenarios().front(), 1);
  struct stopping_gate final : virtual_gate {
    using virtual_gate::virtual_gate;
    void enter(bool window, const std::function<std::shared_ptr<void>()>& waits) override {
      if (slices == 9) throw tune::tuning_stopped_error("enough");
      virtual_gate::enter(window, waits);
    }
  } gate(behind.fake(), 0.5);
  gate.checks_are_long = true;
  behind.gate = &gate;
  CHECK_THROWS_AS(behind.search(), tune::tuning_stopped_error);
  for (const tune::stored_trial& each : behind.stored()) CHECK(each.outcome == "measured");
}

}  // namespace sliced_search_test
