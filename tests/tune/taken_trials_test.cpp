// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/taken_trials.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/tune/trial_conversion.hpp"
#include "tests/tune/scale.hpp"

namespace {

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
    return tune::trials_to_take_over(stored, problem(text), {}).size();
  }
};

}  // namespace

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
  CHECK(b.taken(b.trials_of("#include <x.h>\n"), "#include <x.h>\n// changed\n") == 3);
  CHECK(b.generated == 0);
}

TEST_CASE("an author's function that throws before it compiles has changed") {
  bench b;
  const auto stored = b.trials_of("one");
  tune::search_problem problem = b.problem("one");
  problem.generate = [](std::size_t) -> tune::measure { throw 7; };
  CHECK(tune::trials_to_take_over(stored, problem, {}).empty());
}

TEST_CASE("nothing is generated where there is nothing to take over") {
  bench b;
  CHECK(b.taken({}, "one") == 0);
  CHECK(b.generated == 0);
}

namespace {

tune::trial timed(std::size_t index, double ns, tune::trial_origin origin) {
  tune::trial made;
  made.index = index;
  made.outcome = tune::outcome::measured;
  made.score = tune::run_time(ns);
  made.origin = origin;
  return made;
}

}  // namespace

TEST_CASE("what was taken over is compared again if something new is as close to the best") {
  using enum tune::trial_origin;
  tune::trial_list trials;
  trials.put(timed(0, 102.0, taken_over));
  trials.put(timed(1, 100.0, taken_over));
  trials.put(timed(2, 104.0, taken_over));
  CHECK_MESSAGE(taken_over_to_compare(trials, 8).empty(), "all are of the same day");
  trials.put(timed(3, 105.0, made));
  CHECK_MESSAGE(taken_over_to_compare(trials, 8).empty(), "what is new does not come close");
  trials.put(timed(4, 101.0, made));
  CHECK(taken_over_to_compare(trials, 8) == std::vector<std::size_t>{1, 0});
  CHECK(taken_over_to_compare(trials, 1) == std::vector<std::size_t>{1});
  CHECK(taken_over_to_compare(tune::trial_list(), 8).empty());
}
