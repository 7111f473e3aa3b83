// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A search strategy of a user's own: the code of docs/strategies.md.
// [strategy]
#include <libtune/search/space/neighbours.hpp>
#include <libtune/search/strategy/learning_strategy.hpp>

/// Goes from the best configuration to a better one beside it; ends when that has not helped for
/// long.
class greedy_strategy final : public tune::learning_strategy {
 public:
  greedy_strategy(const tune::search_space& space, const tune::strategy_options& options)
      : learning_strategy(space, options) {}

 private:
  std::optional<std::size_t> do_propose() override {
    if (best_ && ++without_gain_ > patience && end_early()) return std::nullopt;
    if (proposed_++ < first_sample || !best_) return std::nullopt;  // any configuration
    if (centre_ != best_) {
      centre_ = best_;
      around_ = tune::sample_neighbours(space(), *centre_, tune::neighbourhood::hamming,
                                        most_neighbours, random());
    }
    while (!around_.empty()) {
      const std::size_t next = around_.back();
      around_.pop_back();
      if (!tried(next)) return next;
    }
    return std::nullopt;  // none is left around the best
  }

  void do_learn(std::size_t index, std::optional<double> score) override {
    if (!score || (best_ && *score >= least_)) return;  // it failed, or is no better
    best_ = index;
    least_ = *score;
    without_gain_ = 0;
  }

  static constexpr std::size_t first_sample = 8;
  static constexpr std::size_t most_neighbours = 100;
  static constexpr std::size_t patience = 120;

  std::size_t proposed_ = 0;
  std::size_t without_gain_ = 0;       // proposals since the best was found
  std::optional<std::size_t> best_;    // so far
  double least_ = 0;                   // its score
  std::optional<std::size_t> centre_;  // whose neighbours are tried
  std::vector<std::size_t> around_;    // those that are left
};
// [strategy]

// [register]
const bool has_greedy = tune::register_strategy(
    "greedy", [](const tune::search_space& space, const tune::strategy_options& options) {
      return std::make_unique<greedy_strategy>(space, options);
    });
// [register]

#include <chrono>
#include <doctest/doctest.h>
#include <libtune/libtune.hpp>
#include <libtune/testing/fake_device.hpp>
#include <libtune/testing/fixtures.hpp>
#include <memory>
#include <string>
#include <vector>

// [conformance]
#include <libtune/testing/strategy_conformance.hpp>

TEST_CASE("greedy conforms") { tune::testing::check_strategy_conformance("greedy"); }
// [conformance]

namespace strategy_example {

struct bowl_tuning {
  int x = 0;
  int y = 0;
  int z = 0;
};

class started final : public tune::observer {
 public:
  void search_started(const tune::search_started_event& event) override {
    strategy = event.strategy;
  }
  void search_finished(const tune::search_finished_event& event) override {
    trials = event.trials.size();
    end = event.end;
  }
  std::string strategy;
  std::size_t trials = 0;
  tune::search_end end = tune::search_end::complete;
};

}  // namespace strategy_example

LIBTUNE_FIELDS(strategy_example::bowl_tuning, x, y, z)

namespace strategy_example {

/// A search of 8000 configurations, of which one is best.
struct bowl {
  std::shared_ptr<started> seen = std::make_shared<started>();
  tune::tuning_options options{.isolation = tune::isolation_mode::off, .observers = {seen}};

  bowl_tuning search(const tune::search_defaults& defaults = {}) const {
    const tune::testing::fake_device fake;
    tune::tuning_session session(
        fake.device().create_context(),
        {.function = "bowl", .arguments = {}, .device = fake.device().info()}, options);
    tune::space<bowl_tuning> space;
    std::vector<int> candidates(20);
    for (int i = 0; i < 20; ++i) candidates[static_cast<std::size_t>(i)] = i;
    space.add(&bowl_tuning::x, candidates);
    space.add(&bowl_tuning::y, candidates);
    space.add(&bowl_tuning::z, candidates);
    const auto generate = [](const bowl_tuning& t) {
      const int off = (t.x - 3) * (t.x - 3) + (t.y - 11) * (t.y - 11) + (t.z - 17) * (t.z - 17);
      return tune::make_measure([seconds = 1e-6 * (100 + off)](int) { return seconds; });
    };
    return session.tune(space, generate, defaults);
  }
};

TEST_CASE("the search of a page's strategy finds the best, and ends when it expects no more") {
  const bowl example;
  const bowl_tuning best = example.search({.strategy = "greedy"});
  CHECK(example.seen->strategy == "greedy");
  CHECK(best.x == 3);
  CHECK(best.y == 11);
  CHECK(best.z == 17);
  CHECK(example.seen->trials < 1000);
  CHECK(example.seen->end == tune::search_end::no_gain);
}

TEST_CASE("the end can be put off, and limits be lifted, by whoever comes later") {
  bowl example;
  example.options.search.early_end = false;
  example.options.budget = tune::tuning_budget{.trials = 300};
  example.search({.strategy = "greedy", .max_count = 20});
  CHECK(example.seen->strategy == "greedy");
  CHECK(example.seen->trials == 300);
  CHECK(example.seen->end == tune::search_end::trials);
  const tune::testing::scoped_environment named("LIBTUNE_STRATEGY", "random");
  const tune::testing::scoped_environment limit("LIBTUNE_BUDGET", "10 trials");
  example.search({.strategy = "greedy"});
  CHECK(example.seen->strategy == "random");
  CHECK(example.seen->trials == 10);
}

TEST_CASE("a session takes the author's options") {
  const tune::testing::fake_device fake;
  tune::tuning_session session(fake.device().create_context(), {}, {});
  tune::space<bowl_tuning> space;
  space.add(&bowl_tuning::x, {1, 2, 3});
  const auto generate = [](const bowl_tuning& t) {
    return tune::make_measure([seconds = 1e-6 * t.x](int) { return seconds; });
  };
  const auto tunes = [&] {
    // [author]
    return session.tune(space, generate,
                        {.strategy = "greedy",
                         .budget = {.time = std::chrono::seconds(20)},
                         .verify = tune::result_check::finalists});
    // [author]
  };
  CHECK(tunes().x == 1);
}

}  // namespace strategy_example
