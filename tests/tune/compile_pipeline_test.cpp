// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/compile_pipeline.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "libtune/extra/ranged/quick_comparison.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/fake_compile_service.hpp"
#include "tests/tune/scale.hpp"

namespace compile_pipeline_test {

using tune::prebuilt_program;
using tune::testing::fake_call;
using stage = tune::trial_attempt::stage;

/// A pipeline for the configurations of a small space.
struct plant {
  explicit plant(std::size_t capacity = 4) : service(capacity) {}

  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::device device = fake.device();
  tune::measure_settings settings;
  tune::wall_clock clock = fake.clock();
  tune::space<sample::scale_tuning> space = sample::make_space();
  tune::known_failures known;
  std::function<tune::measure(const sample::scale_tuning&)> generate =
      [this](const sample::scale_tuning& t) { return sample::generate(context, t); };
  tune::search_problem problem =
      sample::problem_of(space, [this](const sample::scale_tuning& t) { return generate(t); });
  sample::fake_compile_service service;
  tune::compile_pipeline pipeline{service, 2};

  void add(std::size_t index) {
    auto attempt = std::make_unique<tune::trial_attempt>(problem, index, device, settings, clock);
    attempt->admit(known);
    pipeline.add(std::move(attempt));
  }
  std::unique_ptr<tune::trial_attempt> take() {
    return pipeline.take(std::chrono::steady_clock::time_point::max());
  }
};

TEST_CASE("a configuration comes out when its program has been made, and compiles nothing then") {
  plant p;
  p.add(0);
  CHECK(p.pipeline.compiling() == 1);
  CHECK(p.fake.calls(fake_call::compile) == 0);
  const auto attempt = p.take();
  REQUIRE(attempt);
  CHECK(attempt->index() == 0);
  CHECK(p.pipeline.compiled() == 1);
  CHECK(p.pipeline.empty());
  attempt->generate_prebuilt();
  CHECK(attempt->at() == stage::ready);
  CHECK(p.fake.calls(fake_call::compile) == 0);
}

TEST_CASE("those that are made first come out first") {
  plant p;
  p.service.last_first = true;
  for (const std::size_t index : {0, 1, 2}) p.add(index);
  CHECK(p.take()->index() == 2);
  CHECK(p.take()->index() == 1);
  CHECK(p.take()->index() == 0);
  CHECK(p.take() == nullptr);
}

TEST_CASE("there is room for twice what the service works on, once it is known to have work") {
  plant p(2);
  std::size_t index = 0;
  CHECK(p.pipeline.has_room());
  while (p.pipeline.has_room()) p.add(index++);
  CHECK(index == 4);
  CHECK(p.service.most_on_order() == 4);
}

TEST_CASE("for a caller that learns, little more is held than is being compiled") {
  plant p(4);
  p.service.elapsed = [](const auto&) { return std::chrono::nanoseconds(1); };
  tune::compile_pipeline few(p.service, 2, false, true);
  const auto add = [&](std::size_t index) {
    auto attempt =
        std::make_unique<tune::trial_attempt>(p.problem, index, p.device, p.settings, p.clock);
    attempt->admit(p.known);
    few.add(std::move(attempt));
  };
  std::size_t index = 0;
  while (few.has_room()) add(index++);
  CHECK(index == 6);
  // A turn of the caller takes longer than one program.
  const auto any_time = std::chrono::steady_clock::time_point::max();
  while (!few.empty()) CHECK(few.take(any_time));
  CHECK(few.take(any_time) == nullptr);
  std::size_t again = 0;
  while (few.has_room()) add(again++);
  CHECK(again == 3);
  while (!few.empty()) CHECK(few.take(any_time));
  // As long as nothing is ready, all compilers have work.
  p.service.holds = true;
  std::size_t unready = 0;
  while (few.has_room()) add(unready++);
  CHECK(unready == 6);
}

TEST_CASE("configurations that compile nothing do not pile up on the device") {
  plant p;
  p.generate = [](const auto&) { return tune::make_measure([](int) { return 1e-6; }); };
  p.add(0);
  CHECK_FALSE(p.pipeline.has_room());
  CHECK(p.take()->at() == stage::ready);
  CHECK(p.pipeline.has_room());
}

TEST_CASE("without a service configurations come out as they went in, one at a time") {
  plant p(0);
  p.add(0);
  CHECK_FALSE(p.pipeline.has_room());
  const auto attempt = p.take();
  CHECK(attempt->at() == stage::waiting);
  CHECK_FALSE(attempt->has_wanted());
  attempt->generate();
  CHECK(attempt->at() == stage::ready);
  CHECK(p.fake.calls(fake_call::compile) == 1);
}

TEST_CASE("a program that is compiled second is ordered second") {
  plant p;
  p.generate = [&](const sample::scale_tuning& t) {
    static_cast<void>(tune::compile(p.context, {"other.kernel", "KERNEL void other()"}));
    return sample::generate(p.context, t);
  };
  p.add(0);
  auto attempt = p.take();
  attempt->generate_prebuilt();
  REQUIRE(attempt->has_wanted());
  p.pipeline.add(std::move(attempt));
  CHECK(p.service.ordered() == 2);
  attempt = p.take();
  attempt->generate_prebuilt();
  CHECK(attempt->at() == stage::ready);
  CHECK(attempt->result().programs.size() == 2);
  CHECK(p.fake.calls(fake_call::compile) == 0);
}

TEST_CASE("programs are ordered ahead of a comparison, as far as they are known, and none is run") {
  plant p;
  const tune::testing::temporary_directory folder;
  tune::testing::scoped_environment cache("LIBTUNE_CACHE", folder.path().c_str());
  p.generate = [&](const sample::scale_tuning& t) {
    static_cast<void>(tune::compile(p.context, {"other.kernel", "KERNEL void other()"}));
    return sample::generate(p.context, t);
  };
  const tune::tuning_subject subject;
  const tune::step_hooks hooks;
  const tune::detail::quick_comparison::setting setting{.problem = p.problem,
                                                        .subject = subject,
                                                        .device = p.device,
                                                        .observers = {},
                                                        .measure = p.settings,
                                                        .now = p.clock,
                                                        .service = p.service,
                                                        .hooks = hooks,
                                                        .known = p.known};
  const std::vector<std::size_t> two{0, 1};
  tune::detail::compile_ahead(setting, two);
  CHECK(p.service.ordered() == 2);
  // The second program is known when the first is there.
  const auto is_first = [](const tune::wanted_program& wanted) {
    return wanted.source.text.find("other") != std::string::npos;
  };
  p.service.known = [&](const tune::wanted_program& wanted) {
    return is_first(wanted) ? std::optional(sample::made_of(wanted)) : std::nullopt;
  };
  tune::detail::compile_ahead(setting, two);
  CHECK(p.service.ordered() == 4);
  p.service.known = sample::made_of;
  tune::detail::compile_ahead(setting, two);
  CHECK(p.service.ordered() == 4);
  CHECK(p.fake.calls(fake_call::compile) == 0);
  CHECK(p.fake.calls(fake_call::launch) == 0);
  // Without a cache of programs they would be compiled in vain.
  p.service.known = nullptr;
  const tune::testing::scoped_environment none("LIBTUNE_CACHE", "off");
  tune::detail::compile_ahead(setting, two);
  CHECK(p.service.ordered() == 4);
}

TEST_CASE("what the service knows already is not ordered") {
  plant p;
  p.service.known = sample::made_of;
  p.add(0);
  CHECK(p.service.ordered() == 0);
  CHECK(p.pipeline.compiled() == 0);
  const auto attempt = p.take();
  CHECK(attempt->at() == stage::ready);
}

TEST_CASE("with cached programs an author's function is called once for a configuration") {
  plant p;
  int calls = 0;
  p.generate = [&](const sample::scale_tuning& t) {
    ++calls;
    return sample::generate(p.context, t);
  };
  p.service.known = sample::made_of;
  SUBCASE("all are cached") {
    for (const std::size_t index : {0, 1, 2}) {
      p.add(index);
      CHECK_FALSE(p.pipeline.has_room());
      CHECK(p.take()->at() == stage::ready);
    }
    CHECK(calls == 3);
  }
  SUBCASE("except for one that waits behind another, so that one is on the device at a time") {
    p.add(0);
    p.add(1);
    CHECK(p.take()->at() == stage::ready);
    const auto second = p.take();
    CHECK(second->at() == stage::waiting);
    CHECK(calls == 2);
    second->generate_prebuilt();
    CHECK(second->at() == stage::ready);
    CHECK(calls == 3);
  }
}

TEST_CASE("a cached program beside a missing one is looked up once") {
  plant p;
  p.generate = [&](const sample::scale_tuning& t) {
    static_cast<void>(tune::compile(p.context, {"other.kernel", "KERNEL void other()"}));
    return sample::generate(p.context, t);
  };
  int looked = 0;
  p.service.known = [&](const tune::wanted_program& wanted) {
    ++looked;
    const bool is_other = wanted.source.text.find("other") != std::string::npos;
    return is_other ? std::optional(sample::made_of(wanted)) : std::nullopt;
  };
  p.add(0);
  CHECK(looked == 2);
  CHECK(p.service.ordered() == 1);
  const auto attempt = p.take();
  attempt->generate_prebuilt();
  CHECK(attempt->at() == stage::ready);
  CHECK(looked == 2);
  CHECK(p.fake.calls(fake_call::compile) == 0);
}

TEST_CASE("each way in which a compiler fails is an outcome with its reason") {
  plant p;
  prebuilt_program failed{.text = "what happened"};
  tune::outcome expected{};
  SUBCASE("it refuses the source") {
    failed.what = prebuilt_program::status::refused;
    expected = tune::outcome::compile_failed;
  }
  SUBCASE("it crashes") {
    failed.what = prebuilt_program::status::crashed;
    expected = tune::outcome::crashed;
  }
  SUBCASE("it takes too long") {
    failed.what = prebuilt_program::status::timed_out;
    expected = tune::outcome::timed_out;
  }
  p.service.make = [&](const auto&) { return failed; };
  p.add(0);
  const auto attempt = p.take();
  attempt->generate_prebuilt();
  REQUIRE(attempt->over());
  CHECK(attempt->result().outcome == expected);
  CHECK(attempt->result().reason.find("what happened") != std::string::npos);
  CHECK(p.fake.calls(fake_call::compile) == 0);
}

TEST_CASE("what nobody could make is compiled where it is asked for") {
  plant p;
  p.service.make = [](const auto&) { return prebuilt_program{}; };
  p.add(0);
  const auto attempt = p.take();
  attempt->generate_prebuilt();
  CHECK(attempt->at() == stage::ready);
  CHECK(p.fake.calls(fake_call::compile) == 1);
}

TEST_CASE("an author's function that catches what stops it is stopped all the same") {
  plant p;
  p.generate = [&](const sample::scale_tuning& t) -> tune::measure {
    try {
      return sample::generate(p.context, t);
    } catch (...) {
      return nullptr;
    }
  };
  p.add(0);
  CHECK(p.pipeline.compiling() == 1);
  const auto attempt = p.take();
  attempt->generate_prebuilt();
  CHECK(attempt->at() == stage::ready);
}

TEST_CASE("what is known not to compile is over before anything is ordered") {
  plant p;
  p.known.configurations.emplace(tune::canonical_text(tune::to_values(p.space[0])), "of then");
  p.add(0);
  CHECK(p.service.ordered() == 0);
  const auto attempt = p.take();
  CHECK(attempt->over());
  CHECK(attempt->result().origin == tune::trial_origin::cached);
}

TEST_CASE("what looks like the dearest so far is ordered as such") {
  plant p;
  p.service.elapsed = [](const tune::wanted_program& wanted) {
    const bool is_dear = wanted.source.text.find("#define wgs 8") != std::string::npos;
    return is_dear ? std::chrono::seconds(9) : std::chrono::seconds(1);
  };
  for (std::size_t i = 0; i < p.space.size(); ++i) {
    p.add(i);
    p.take();
  }
  p.add(p.space.find({.wgs = 2, .rows = 1}).value());
  p.add(p.space.find({.wgs = 8, .rows = 1}).value());
  const auto& costs = p.service.costs;
  CHECK(costs.front() == 0);
  CHECK(costs[costs.size() - 1] > 2 * costs[costs.size() - 2]);
}

TEST_CASE("where the size of the work group is declared the compile service gets it") {
  plant p;
  p.problem.needs = [](std::size_t) { return tune::resources{.work_group = {8, 2, 1}}; };
  std::vector<tune::nd_range> launches;
  p.service.make = [&](const tune::wanted_program& wanted) {
    launches = wanted.launches;
    return sample::made_of(wanted);
  };
  p.add(0);
  p.take();
  REQUIRE(launches.size() == 2);
  for (const tune::nd_range& launch : launches) {
    CHECK(launch.local == tune::work_size{8, 2, 1});
    CHECK(launch.global.x % 8 == 0);
  }
  CHECK(launches[1].global.x > 65535);
}

TEST_CASE(
    "where compilers share the cores that are measured, nothing comes out before all is made") {
  plant p;
  tune::compile_pipeline apart(p.service, 1, true);
  const auto add = [&](std::size_t index) {
    auto attempt =
        std::make_unique<tune::trial_attempt>(p.problem, index, p.device, p.settings, p.clock);
    attempt->admit(p.known);
    apart.add(std::move(attempt));
  };
  const auto now = [&] { return apart.take(std::chrono::steady_clock::time_point::min()); };
  std::size_t index = 0;
  while (apart.has_room()) add(index++);
  REQUIRE(index == 4);
  CHECK(now() == nullptr);  // one is made by each look
  CHECK(now() == nullptr);
  CHECK(now() == nullptr);
  CHECK(now() != nullptr);
  CHECK_FALSE(apart.has_room());
  for (int left = 0; left < 3; ++left) CHECK(now() != nullptr);
  CHECK(apart.has_room());
}

}  // namespace compile_pipeline_test

namespace compile_pipeline_test::of_compile_cost {

using choice = std::array<std::size_t, 3>;

/// The time of a program, in ns: two parameters matter, and chance a little.
double true_cost(const choice& of, double chance) {
  constexpr std::array<double, 3> unroll{1, 3, 10};
  constexpr std::array<double, 2> vector{1, 2};
  return 1e8 * unroll[of[0]] * vector[of[1]] * std::exp(0.1 * chance);
}

TEST_CASE("nothing is foretold before anything is known") {
  const tune::compile_cost cost;
  CHECK(cost.predict(choice{0, 0, 0}) == 0);
}

TEST_CASE("candidates that were never seen count as the others") {
  tune::compile_cost cost;
  cost.learn(choice{0, 0, 0}, std::chrono::milliseconds(100));
  CHECK(cost.predict(choice{1, 1, 1}) == doctest::Approx(1e8));
  CHECK(cost.predict(std::vector<std::size_t>{}) == doctest::Approx(1e8));
}

TEST_CASE("after fifty programs the next ones are foretold within a third on average") {
  tune::compile_cost cost;
  std::mt19937 random(1);
  std::normal_distribution<double> chance;
  double error = 0;
  for (int i = 0; i < 150; ++i) {
    const choice of{random() % 3, random() % 2, random() % 8};
    const double took = true_cost(of, chance(random));
    if (i >= 50) error += std::abs(std::log(cost.predict(of) / took));
    cost.learn(of, std::chrono::nanoseconds(std::llround(took)));
  }
  CHECK(error / 100 < std::log(1.33));
}

}  // namespace compile_pipeline_test::of_compile_cost
