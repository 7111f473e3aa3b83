// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/prior_trials.hpp"

#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "libtune/tune/engine/trial_attempt.hpp"
#include "tests/tune/scale.hpp"

namespace prior_trials_test {

using tune::testing::fake_call;

/// Trials of a kernel, and what is taken over of them when the kernel has another text.
struct bench {
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::space<sample::scale_tuning> space = sample::make_space();
  int generated = 0;

  tune::search_problem problem(const std::string& text) {
    return {.space = space.core(),
            .configuration = [this](std::size_t i) { return tune::to_values(space[i]); },
            .needs = [](std::size_t) { return std::nullopt; },
            .generate =
                [this, text](std::size_t i) {
                  ++generated;
                  if (!text.empty()) {
                    tune::compile(context, {"scale.kernel", text}, tune::defines(space[i]));
                  }
                  return tune::make_measure([i](int) { return 1e-6 * static_cast<double>(i + 1); });
                }};
  }

  std::vector<tune::stored_trial> trials_of(const std::string& text) {
    std::vector<tune::stored_trial> stored;
    for (std::size_t i = 0; i < 3; ++i) {
      stored.push_back(
          tune::to_stored(tune::run_trial(problem(text), i, fake.device(), {}, fake.clock())));
    }
    generated = 0;
    return stored;
  }

  std::size_t taken(const std::vector<tune::stored_trial>& stored, const std::string& text) {
    return tune::trials_to_resume(stored, problem(text), {}).size();
  }
};

TEST_CASE("trials of the same kernel are taken over, and nothing is compiled for it") {
  bench b;
  const auto stored = b.trials_of("one");
  const std::size_t compiled = b.fake.calls(fake_call::compile);
  CHECK(b.taken(stored, "one") == 3);
  CHECK(b.generated == 1);
  CHECK(b.fake.calls(fake_call::compile) == compiled);
}

TEST_CASE("trials of a kernel that has changed are not taken over") {
  bench b;
  const auto stored = b.trials_of("one");
  CHECK(b.taken(stored, "two") == 0);
  CHECK(b.taken(stored, "") == 0);  // it is no longer compiled
}

TEST_CASE("trials whose programs are not known are taken over as they are") {
  bench b;
  CHECK(b.taken(b.trials_of(""), "two") == 3);
  CHECK(b.taken(b.trials_of("#include FILE\n"), "#include FILE\n// changed\n") == 3);
  CHECK(b.generated == 0);
}

TEST_CASE("an author's function that throws before it compiles has changed") {
  bench b;
  const auto stored = b.trials_of("one");
  tune::search_problem problem = b.problem("one");
  problem.generate = [](std::size_t) -> tune::measure { throw 7; };
  CHECK(tune::trials_to_resume(stored, problem, {}).empty());
}

TEST_CASE("nothing is generated where there is nothing to take over") {
  bench b;
  CHECK(b.taken({}, "one") == 0);
  CHECK(b.generated == 0);
}

using indices = std::vector<std::size_t>;
using tune::run_time;

/// So many configurations, of which number i takes 100 + i.
tune::earlier_times times_of_many(std::size_t count) {
  tune::earlier_times times;
  for (std::size_t i = count; i-- > 0;) {
    const run_time then(100 + static_cast<double>(i));
    times.add(i, then, then);
  }
  return times;
}

/// Measures those again on a device that takes so much longer.
void note_all(tune::earlier_times& times, const indices& named, double factor) {
  for (const std::size_t i : named) {
    times.note(i, run_time(factor * (100 + static_cast<double>(i))));
  }
}

TEST_CASE("the best of what was taken over are measured again in any case") {
  tune::earlier_times times = times_of_many(20);
  const indices first = times.next_references();
  CHECK(first == indices{0, 1, 2, 3, 4});
  CHECK(times.factor() == 1);
  note_all(times, first, 1.25);
  CHECK(times.next_references().empty());
  CHECK(times.factor() == doctest::Approx(1.25));
  CHECK(times.estimate(10)->count() == doctest::Approx(1.25 * 110));
  CHECK_FALSE(times.estimate(20));
  CHECK(tune::earlier_times().next_references().empty());
}

TEST_CASE("where one cannot be measured any more the next best takes its place") {
  tune::earlier_times times = times_of_many(20);
  CHECK(times.next_references().size() == 5);
  times.note(1, run_time(101));
  times.note(3, run_time(103));
  CHECK(times.next_references() == indices{5, 6, 7});
  CHECK(times.next_references() == indices{8, 9, 10});
}

TEST_CASE("what may still win is measured again, at the level of now") {
  tune::earlier_times times = times_of_many(40);
  note_all(times, times.next_references(), 0.8);
  SUBCASE("the best is new") { CHECK(times.next_rivals(run_time(50), 8).empty()); }
  SUBCASE("what is new does not come close") {
    // 1 % beside what is known: up to 0.8 * (100 + i) = 88 * 1.01.
    CHECK(times.next_rivals(run_time(88), 8).size() == 7);
    CHECK(times.next_rivals(run_time(88), 8).empty());
  }
  SUBCASE("few at a time") {
    CHECK(times.next_rivals(run_time(88), 2) == indices{5, 6});
    CHECK(times.next_rivals(run_time(88), 2) == indices{7, 8});
  }
  SUBCASE("whatever is named, nothing is named twice") {
    CHECK(times.next_rivals(run_time(1000), 100).size() == 35);
    CHECK(times.next_rivals(run_time(1000), 100).empty());
  }
}

TEST_CASE("while nothing is known of the device now, all may win") {
  tune::earlier_times times = times_of_many(100);
  CHECK(times.next_rivals(std::nullopt, 8).size() == 8);
  CHECK(times.next_rivals(run_time(1), 1000).size() == 56);
  CHECK_MESSAGE(times.next_references().empty(), "64 are enough of whatever there is");
}

TEST_CASE("quotients that differ make an estimate less certain") {
  tune::earlier_times times = times_of_many(40);
  const indices first = times.next_references();
  for (const std::size_t i : first) {
    times.note(i,
               run_time((100 + static_cast<double>(i)) * (0.95 + 0.025 * static_cast<double>(i))));
  }
  CHECK(times.factor() == doctest::Approx(1));
  CHECK(times.next_rivals(run_time(105), 40).size() == 8);
}

TEST_CASE("who had few runs may have been faster than it seemed") {
  std::vector<tune::trial> trials(9);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].index = i;
    trials[i].outcome = tune::outcome::measured;
    trials[i].level = i == 7 ? 2 : 1;
    const double time = i == 8 ? 104 : i == 7 ? 208 : 100 + 0.1 * static_cast<double>(i);
    const double spread = i == 8 ? 0.03 : 0.003;
    for (int run = 0; run < (i == 8 ? 2 : 16); ++run) {
      trials[i].samples.add(run_time(time * (run % 2 == 0 ? 1 - spread : 1 + spread)));
    }
    trials[i].score = run_time(time);
  }
  tune::earlier_times times = tune::times_of(trials);
  for (const std::size_t i : times.next_references()) times.note(i, *trials[i].score);
  CHECK(times.next_rivals(run_time(100), 8) == indices{3, 4, 5, 6, 8});
}

TEST_CASE("what was never named goes on as it would be now") {
  tune::earlier_times times = times_of_many(8);
  note_all(times, times.next_references(), 1.5);
  tune::earlier_times left = times.unnamed();
  CHECK(left.estimate(5)->count() == doctest::Approx(157.5));
  CHECK_FALSE(left.estimate(1));
  CHECK(left.next_references() == indices{2, 3});
}

}  // namespace prior_trials_test

namespace prior_trials_test::of_trial_conversion {

using tune::outcome;
using tune::stored_trial;

tune::search_problem sample_problem() {
  const auto space = sample::make_space();
  return {.space = space.core(),
          .configuration = [space](std::size_t i) { return tune::to_values(space[i]); },
          .needs = {},
          .generate = {}};
}

tune::trial measured() {
  tune::trial made;
  made.index = 3;  // wgs 2, rows 2
  made.configuration = sample_problem().configuration(3);
  made.outcome = outcome::measured;
  made.samples = tune::samples({tune::run_time(3), tune::run_time(1), tune::run_time(2)});
  made.score = tune::run_time(2);
  made.bounds = {tune::run_time(1), tune::run_time(3)};
  made.preparation = std::chrono::nanoseconds(77);
  made.programs = {"a", "b"};
  made.level = 1.25;
  return made;
}

TEST_CASE("a trial comes back from what is stored of it") {
  const auto back = tune::from_stored(tune::to_stored(measured()), sample_problem());
  REQUIRE(back);
  CHECK(back->index == 3);
  CHECK(back->configuration == measured().configuration);
  CHECK(back->outcome == outcome::measured);
  CHECK(back->score == tune::run_time(2));
  CHECK(back->bounds == measured().bounds);
  CHECK(back->samples.size() == 3);
  CHECK(back->preparation == std::chrono::nanoseconds(77));
  CHECK(back->programs == measured().programs);
  CHECK(back->level == 1.25);
  CHECK(back->origin == tune::trial_origin::resumed);
}

TEST_CASE("a failure comes back with its reason") {
  tune::trial failed = measured();
  failed.outcome = outcome::wrong_result;
  failed.reason = "3 of 4 differ";
  failed.score.reset();
  failed.samples = {};
  const auto back = tune::from_stored(tune::to_stored(failed), sample_problem());
  REQUIRE(back);
  CHECK(back->outcome == outcome::wrong_result);
  CHECK(back->reason == "3 of 4 differ");
  CHECK_FALSE(back->score);
}

TEST_CASE("whether a trial was only remembered is stored") {
  tune::trial known = measured();
  CHECK_FALSE(tune::to_stored(known).remembered);
  known.origin = tune::trial_origin::cached;
  CHECK(tune::to_stored(known).remembered);
}

TEST_CASE("what does not fit the space, or contradicts itself, is not taken over") {
  stored_trial stored = tune::to_stored(measured());
  SUBCASE("a value that is no candidate") { stored.configuration[0].value = std::int64_t{3}; }
  SUBCASE("a value of another type") { stored.configuration[0].value = std::uint64_t{2}; }
  SUBCASE("a missing field") { stored.configuration.pop_back(); }
  SUBCASE("a field too many") { stored.configuration.push_back({"x", true}); }
  SUBCASE("an unknown outcome") { stored.outcome = "crashed"; }
  SUBCASE("measured without samples") { stored.samples_ns.clear(); }
  SUBCASE("a time that is not a number") { stored.samples_ns[0] = std::nan(""); }
  SUBCASE("an infinite time") { stored.samples_ns[0] = std::numeric_limits<double>::infinity(); }
  SUBCASE("a time of zero") { stored.samples_ns[0] = 0; }
  SUBCASE("failed and yet with samples") { stored.outcome = "skipped"; }
  CHECK_FALSE(tune::from_stored(stored, sample_problem()));
}

TEST_CASE("the score is that of the samples, whatever was stored") {
  stored_trial stored = tune::to_stored(measured());
  stored.score_ns = 0.001;
  CHECK(tune::from_stored(stored, sample_problem())->score == tune::run_time(2));
}

}  // namespace prior_trials_test::of_trial_conversion
