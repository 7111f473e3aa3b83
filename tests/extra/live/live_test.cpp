// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Swaps on a fake device, where the test itself does the work of libtune's thread.
#include "libtune/extra/live/live.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <optional>
#include <stdexcept>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "tests/extra/live/live_bench.hpp"

namespace live_test {

using live_sample::bench;
using live_sample::step;
using live_sample::step_template;
using live_sample::step_tuning;
using tune::live_change;
using tune::live_run;
using tune::testing::fake_call;
using tune::testing::scoped_seal;

TEST_CASE("a better tuning takes over, and the arrays stay what they are") {
  for (const live_run how : {live_run::enqueue, live_run::graph}) {
    for (const bool graphs : {true, false}) {
      bench b({}, how, graphs);
      for (int i = 0; i < 5; ++i) b.frame();
      CHECK(b.mark() == 1);
      b.publish({.mark = 2, .time = 900});
      b.settle();
      CHECK(b.mark() == 2);
      CHECK(b.life->current().tuning == step_tuning{.mark = 2, .time = 900});
      b.frame();
      CHECK(b.value() == static_cast<float>(b.frames));
      CHECK(b.pipeline.counts().kept == 1);
      REQUIRE(b.heard->events.size() == 2);
      CHECK(b.heard->events[0].change == live_change::trying);
      const tune::live_event& kept = b.heard->events[1];
      CHECK(kept.change == live_change::kept);
      CHECK(*kept.ratio == doctest::Approx(0.9));
      CHECK(kept.before == tune::to_values(step_tuning{}));
      CHECK(kept.after == tune::to_values(step_tuning{.mark = 2, .time = 900}));
    }
  }
}

TEST_CASE("one that is no better is taken back, and is not tried again") {
  for (const int time : {1000, 1100, 2000}) {
    bench b;
    b.publish({.mark = 2, .time = time});
    b.settle();
    CHECK(b.mark() == 1);
    b.frame();
    CHECK(b.value() == static_cast<float>(b.frames));
    REQUIRE(b.heard->events.size() == 2);
    CHECK(b.heard->events[1].change == live_change::taken_back);
    b.publish({.mark = 2, .time = time});
    b.settle();
    b.settle();
    CHECK(b.pipeline.counts().tried == 1);
    CHECK(b.pipeline.counts().taken_back == 1);
  }
}

TEST_CASE("what has been replaced is not tried again either") {
  bench b;
  b.publish({.mark = 2, .time = 900});
  b.settle();
  b.fake.set_time([](const auto& launch) {
    return std::chrono::nanoseconds(launch.integer("mark") == 2 ? 2000 : 1000);
  });
  b.publish({});
  b.settle();
  CHECK(b.mark() == 2);
  CHECK(b.pipeline.counts().tried == 1);
}

TEST_CASE("a swap allocates nothing and comes to no door on the thread of the pipeline") {
  for (const live_run how : {live_run::enqueue, live_run::graph}) {
    for (const auto mode : {tune::seal_mode::throws, tune::seal_mode::counts}) {
      bench b({.watch_every = 4}, how);
      b.fake.set_time(
          [](const auto& launch) { return std::chrono::nanoseconds(launch.integer("time")); });
      b.frame();
      const scoped_seal sealed(mode);
      std::size_t allocated = 0;
      const auto step = [&] {
        const tune::unsealed_section ours;
        b.core->step();
      };
      // The fake device keeps a thousand launches without allocating.
      for (const int time : {700, 1400}) {
        {
          const tune::unsealed_section ours;
          b.publish({.mark = time, .time = time});
        }
        step();
        for (int i = 0; i < 450 && !b.core->is_idle(); ++i) {
          const tune::testing::allocation_counter counter;
          b.instance->run();
          b.pipeline.epoch();
          allocated += counter.count();
          step();
        }
        CHECK(b.core->is_idle());
      }
      CHECK(b.pipeline.counts().kept == 1);
      CHECK(b.pipeline.counts().taken_back == 1);
      CHECK(allocated == 0);
      CHECK(tune::seal_report().total() == 0);
    }
  }
}

TEST_CASE("nothing that has run is destroyed before the device is done with it") {
  bench b({.compare = false});
  const std::weak_ptr<tune::detail::context_interface> alive = b.context.impl();
  b.frame();
  const auto before = b.instance->operator->();
  b.fake.hold_events(true);
  b.publish({.mark = 2});
  b.core->step();
  b.frame();
  b.core->step();
  b.frame();
  CHECK(b.mark() == 2);
  for (int i = 0; i < 10; ++i) b.core->step();
  CHECK(!b.core->is_idle());
  CHECK(before->tuning.mark == 1);  // it lives yet
  b.fake.hold_events(false);
  b.core->step();
  CHECK(b.core->is_idle());
}

TEST_CASE("the end of a pipeline destroys nothing that the device still runs") {
  std::optional<bench> b(std::in_place);
  b->frame();
  b->fake.hold_events(true);
  b->instance.reset();
  b->life.reset();
  b->core->step();
  const tune::testing::fake_device fake = b->fake;
  const std::size_t waits = fake.calls(fake_call::finish);
  b.reset();
  CHECK(fake.calls(fake_call::finish) == waits + 1);
}

TEST_CASE("an instance without arrays holds up no candidate, and is made anew once it has run") {
  bench b;
  auto spare =
      b.life->instantiate(b.queue, [](const step_template& made, const tune::command_queue& on) {
        return made.instantiate(on);
      });
  b.publish({.mark = 2, .time = 900});
  b.settle();
  CHECK(b.mark() == 2);
  CHECK(spare->tuning.mark == 1);
  b.publish({.mark = 3, .time = 800});
  b.settle();
  CHECK(b.mark() == 3);
  CHECK(b.pipeline.counts().kept == 2);
  CHECK(b.core->is_idle());
  spare->ensure_all_bound();
  spare->buffer("data").zero(b.queue);
  spare.run();
  b.settle();
  CHECK(spare->tuning.mark == 3);
}

TEST_CASE("a candidate waits for the first arrays of its key, and others do not wait for it") {
  bench b;
  auto second = std::make_optional<tune::live<step_template>>(b.pipeline, b.context,
                                                              live_sample::step_key{.size = 128});
  auto bare =
      second->instantiate(b.queue, [](const step_template& made, const tune::command_queue& on) {
        return made.instantiate(on);
      });
  auto other = bench::better({.mark = 5, .time = 700}, b.context);
  other.key.arguments = tune::to_values(live_sample::step_key{.size = 128});
  tune::tuning_news::shared().publish(other);
  b.settle();
  b.publish({.mark = 2, .time = 900});
  b.settle();
  b.settle();
  CHECK(b.mark() == 2);
  CHECK(bare->tuning.mark == 1);
  bare->ensure_all_bound();
  bare->buffer("data").zero(b.queue);
  for (int i = 0; i < 20'000 && bare->tuning.mark != 5; ++i) {
    bare.run();
    b.frame();
    b.core->step();
  }
  CHECK(bare->tuning.mark == 5);
}

TEST_CASE("a device that is lost keeps nothing of a pipeline from its end") {
  std::optional<bench> b(std::in_place);
  b->frame();
  b->instance.reset();
  b->life.reset();
  b->fake.fail_next(fake_call::finish, 1, {.reason = "lost", .sticky = true});
  CHECK_THROWS(b->queue.finish());
  CHECK_NOTHROW(b->core->step());
  b.reset();
}

TEST_CASE("a candidate that cannot be put into service leaves all as it was") {
  bench b;
  std::string expected;
  step_tuning tuning{.mark = 3};
  SUBCASE("its program does not compile") {
    b.fake.fail_when(fake_call::compile,
                     [](const auto& macros) { return macros.integer("mark") == 3; },
                     {.reason = "no such register"});
    expected = "no such register";
  }
  SUBCASE("its kernel cannot be made") {
    b.fake.fail_when(fake_call::create_kernel,
                     [](const auto& macros) { return macros.integer("mark") == 3; },
                     {.reason = "no kernel"});
    expected = "no kernel";
  }
  SUBCASE("its first launch on scratch fails") {
    b.fake.fail_when(fake_call::launch,
                     [](const auto& macros) { return macros.integer("mark") == 3; },
                     {.reason = "no launch"});
    expected = "no launch";
  }
  SUBCASE("it does not take the arrays, for their padding") {
    tuning.round = 48;
    expected = "axis 0 of slot 'data' cannot be padded to 64";
  }
  b.publish(tuning);
  b.settle();
  CHECK(b.mark() == 1);
  b.frame();
  CHECK(b.value() == static_cast<float>(b.frames));
  REQUIRE(b.heard->events.size() == 1);
  CHECK(b.heard->events[0].change == live_change::refused);
  CHECK(b.heard->events[0].reason.find(expected) != std::string::npos);
  b.fake.clear_failures();
  b.publish({.mark = 2, .time = 900});
  b.settle();
  CHECK(b.mark() == 2);
}

TEST_CASE("a candidate with other bits than the tuning in service is refused, if that is asked") {
  bench b({.same_bits = true});
  (*b.instance)->set_amount(3);
  b.instance->carry([](const step& from, step& to) { to.set_amount(from.amount()); });
  b.frame();
  b.publish({.mark = 9, .time = 500});
  b.settle();
  CHECK(b.mark() == 1);
  REQUIRE(b.heard->events.size() == 1);
  CHECK(b.heard->events[0].change == live_change::refused);
  CHECK(b.heard->events[0].reason.find("the slot 'data' have other bits") != std::string::npos);
  b.frame();
  CHECK(b.value() == 3 * static_cast<float>(b.frames));  // its arrays are as they were
  b.publish({.mark = 2, .time = 500});
  b.settle();
  CHECK(b.mark() == 2);
  CHECK(b.value() == 3 * static_cast<float>(b.frames));
  bench free;
  free.publish({.mark = 9, .time = 500});
  free.settle();
  CHECK(free.mark() == 9);
}

TEST_CASE("what is no tuning is refused") {
  bench b;
  auto wrong = bench::better({.mark = 2}, b.context);
  wrong.values[0].value = std::string("two");
  tune::tuning_news::shared().publish(wrong);
  b.settle();
  CHECK(b.pipeline.counts().refused == 1);
}

TEST_CASE("where a candidate throws while it serves, the one before runs in its place") {
  bench b({.warm = false});
  b.publish({.mark = 2, .time = 900});
  b.core->step();
  b.fake.fail_when(fake_call::launch,
                   [](const auto& macros) { return macros.integer("mark") == 2; },
                   {.reason = "lost"});
  b.settle();
  CHECK(b.mark() == 1);
  CHECK(b.value() == static_cast<float>(b.frames));
  REQUIRE(b.heard->events.size() == 2);
  CHECK(b.heard->events[1].change == live_change::taken_back);
  CHECK(b.heard->events[1].reason.find("lost") != std::string::npos);
}

TEST_CASE("without a comparison a candidate is kept unseen, and the queue needs no profiling") {
  const auto fake = live_sample::make_device();
  const auto context = fake.device().create_context();
  const auto queue = context.create_command_queue();
  const auto make = [](const step_template& made, const tune::command_queue& on) {
    return made.instantiate(on);
  };
  {
    tune::live_pipeline pipeline;
    const tune::live<step_template> life(pipeline, context);
    CHECK_THROWS_WITH_AS(static_cast<void>(life.instantiate(queue, make)),
                         doctest::Contains("no profiling"), tune::argument_error);
  }
  const auto core = std::make_shared<tune::detail::live_core>(
      tune::live_options{.compare = false, .watch_every = 0}, false);
  tune::live_pipeline pipeline(core);
  const tune::live<step_template> life(pipeline, context);
  auto instance = life.instantiate(queue, make);
  instance.run();
  tune::tuning_news::shared().publish(bench::better({.mark = 2, .time = 3000}, context));
  for (int i = 0; i < 4; ++i) {
    core->step();
    pipeline.epoch();
    instance();
  }
  CHECK(instance->tuning.mark == 2);
  CHECK(pipeline.counts().kept == 1);
  CHECK(pipeline.counts().tried == 0);
}

TEST_CASE("arrays that are bound anew, and what carry copies, are the same for both") {
  for (const live_run how : {live_run::enqueue, live_run::graph}) {
    bench b({}, how);
    b.instance->carry([](const step& from, step& to) {
      if (to.amount() != from.amount()) to.set_amount(from.amount());
    });
    (*b.instance)->set_amount(2);
    const tune::device_array one = (*b.instance)->buffer("data");
    const tune::device_array other(b.context, one.layout());
    other.zero(b.queue);
    b.publish({.mark = 2, .time = 900});
    b.core->step();
    int ran = 0;
    float sum = 0;
    while (!b.core->is_idle()) {
      if (ran % 5 == 0) (*b.instance)->bind("data", ran % 10 == 0 ? other : one);
      const float amount = ran < 100 ? 2 : 3;
      if (ran == 100) (*b.instance)->set_amount(amount);
      b.frame();
      sum += amount;
      ++ran;
      b.core->step();
    }
    CHECK(ran > 100);
    CHECK(b.mark() == 2);
    CHECK((*b.instance)->amount() == 3);
    CHECK(one.get<float>(b.queue)(0) + other.get<float>(b.queue)(0) == sum);
  }
}

TEST_CASE("a graph whose arrays change in each epoch is not swapped") {
  bench b({}, live_run::graph);
  const tune::device_array one = (*b.instance)->buffer("data");
  const tune::device_array other(b.context, one.layout());
  b.publish({.mark = 2, .time = 900});
  b.core->step();
  for (int i = 0; i < 200 && !b.core->is_idle(); ++i) {
    (*b.instance)->bind("data", i % 2 == 0 ? other : one);
    b.frame();
    b.core->step();
  }
  CHECK(b.core->is_idle());
  CHECK(b.mark() == 1);
  REQUIRE(b.heard->events.size() == 1);
  CHECK(b.heard->events[0].reason.find("live_run::enqueue") != std::string::npos);
}

TEST_CASE("a candidate stays where the one before does not take its arrays any more") {
  bench b;
  const tune::live<step_template> life(b.pipeline, b.context, {}, [&](step_tuning tuning) {
    if (tuning.mark == 1) tuning.round = 48;
    return step_template(b.context, {}, tuning);
  });
  b.life.reset();
  auto instance = life.instantiate(
      b.queue, [](const step_template& made, const auto& on) { return made.instantiate(on); });
  instance->ensure_all_bound();
  b.publish({.mark = 2, .time = 1050});
  b.core->step();
  for (int i = 0; i < 2000 && !b.core->is_idle(); ++i) {
    instance.run();
    b.pipeline.epoch();
    b.core->step();
    if (i == 100) {
      while (instance->tuning.mark == 1) {
        instance.run();
        b.pipeline.epoch();
      }
      static_cast<void>(instance->slot("data").allocate(b.context));
    }
  }
  CHECK(instance->tuning.mark == 2);
  CHECK(life.current().tuning.mark == 2);
  REQUIRE(!b.heard->events.empty());
  CHECK(b.heard->events.back().change == live_change::kept);
  CHECK(b.heard->events.back().reason.find(
            "the previous tuning can no longer serve: axis 0 of slot") != std::string::npos);
}

TEST_CASE("a candidate is refused where carry throws") {
  bench b;
  b.instance->carry([](const step&, step&) { throw std::runtime_error("no state"); });
  b.publish({.mark = 2, .time = 900});
  b.settle();
  CHECK(b.mark() == 1);
  REQUIRE(b.heard->events.size() == 1);
  CHECK(b.heard->events[0].change == live_change::refused);
  CHECK(b.heard->events[0].reason == "no state");
}

TEST_CASE("all instances of a key are swapped together, later ones too") {
  bench b;
  const auto make = [](const step_template& made, const tune::command_queue& on) {
    return made.instantiate(on);
  };
  auto second = b.life->instantiate(b.queue, make);
  second->ensure_all_bound();
  std::optional<tune::live_instance<step>> late, during;
  const auto frame = [&] {
    b.frame();
    second.run();
    CHECK(second->tuning.mark == b.mark());
  };
  b.publish({.mark = 2, .time = 900});
  b.core->step();
  late.emplace(b.life->instantiate(b.queue, make));  // what was prepared is stale
  (*late)->ensure_all_bound();
  for (int i = 0; i < 2000 && b.pipeline.counts().kept == 0; ++i) {
    frame();
    b.core->step();
    if (!during && b.pipeline.counts().tried == 1) {
      during.emplace(b.life->instantiate(b.queue, make));
      (*during)->ensure_all_bound();
      CHECK((*during)->tuning.mark == 1);
    }
  }
  for (int i = 0; i < 10; ++i) {
    b.core->step();
    b.frame();
  }
  CHECK(b.mark() == 2);
  CHECK(second->tuning.mark == 2);
  CHECK((*late)->tuning.mark == 2);
  CHECK((*during)->tuning.mark == 2);
  CHECK(b.pipeline.counts().kept == 1);
  CHECK(b.core->is_idle());
}

TEST_CASE("two lives of one key each take it over") {
  bench b;
  tune::live<step_template> other(b.pipeline, b.context);
  auto second = other.instantiate(
      b.queue, [](const step_template& made, const auto& on) { return made.instantiate(on); });
  second->ensure_all_bound();
  b.publish({.mark = 2, .time = 900});
  b.core->step();
  for (int i = 0; i < 4000 && b.pipeline.counts().kept < 2; ++i) {
    b.frame();
    second.run();
    b.core->step();
  }
  CHECK(b.mark() == 2);
  CHECK(second->tuning.mark == 2);
}

struct wrapped_step : step_template {
  static const tune::autotuner<live_sample::step_key, step_tuning> autotune;
  using step_template::step_template;
};
const tune::autotuner<live_sample::step_key, step_tuning> wrapped_step::autotune{
    {.name = "live_sample.pair", .version = 0, .test = {}},
    [](tune::tuning_session&, const live_sample::step_key&) { return step_tuning{}; }};

TEST_CASE("a sequence of several lives is made anew with either, and may be a graph") {
  for (const live_run how : {live_run::enqueue, live_run::graph}) {
    bench b;
    const tune::live<wrapped_step> after(b.pipeline, b.context);
    auto both = tune::make_live(
        b.queue, how,
        [](const step_template& one, const wrapped_step& two, const tune::command_queue& on) {
          return tune::operation_sequence(
              on, {{"one", one.instantiate(on)}, {"two", two.instantiate(on)}},
              {{"data", {"one:data", "two:data"}}});
        },
        *b.life, after);
    both->ensure_all_bound();
    both->buffer("data").zero(b.queue);
    int frames = 0;
    const auto settle = [&] {
      b.core->step();
      for (int i = 0; i < 4000 && !b.core->is_idle(); ++i) {
        both.run();
        ++frames;
        b.frame();
        b.core->step();
      }
    };
    b.publish({.mark = 2, .time = 900});
    settle();
    auto found = bench::better({.mark = 5, .time = 500}, b.context);
    found.function.name = "live_sample.pair";
    tune::tuning_news::shared().publish(found);
    settle();
    CHECK(b.pipeline.counts().kept == 2);
    CHECK(after.current().tuning.mark == 5);
    const auto launches = b.fake.launches();
    both.run();
    const auto later = b.fake.launches();
    REQUIRE(later.size() == launches.size() + 2);
    CHECK(later[launches.size()].macros.integer("mark") == 2);
    CHECK(later[launches.size() + 1].macros.integer("mark") == 5);
    CHECK(both->buffer("data").get<float>(b.queue)(0) == static_cast<float>(2 * (frames + 1)));
  }
}

TEST_CASE("a tuning that is published while a live is made is not missed") {
  bench b;
  int made = 0;
  const tune::live<step_template> other(b.pipeline, b.context, {}, [&](const step_tuning& tuning) {
    if (made++ == 0) b.publish({.mark = 2, .time = 900});
    return step_template(b.context, {}, tuning);
  });
  CHECK(other.current().tuning.mark == 1);
  b.settle();
  b.settle();
  CHECK(other.current().tuning.mark == 2);
}

TEST_CASE("lives of different pipelines make no instance") {
  bench one, other;
  CHECK_THROWS_AS(static_cast<void>(tune::make_live(
                      one.queue, live_run::enqueue,
                      [](const step_template& a, const step_template&,
                         const tune::command_queue& on) { return a.instantiate(on); },
                      *one.life, *other.life)),
                  tune::argument_error);
  CHECK_THROWS_AS(tune::live_pipeline({.block_epochs = 1}), tune::argument_error);
}

TEST_CASE("a live or an instance may go while a candidate is prepared or compared") {
  for (int when = 0; when < 40; when += 3) {
    for (const bool whole : {false, true}) {
      bench b;
      b.publish({.mark = 2, .time = 900});
      for (int i = 0; i < when; ++i) {
        if (i % 2 == 0) b.core->step();
        b.frame();
      }
      b.instance.reset();
      if (whole) b.life.reset();
      for (int i = 0; i < 20; ++i) {
        b.core->step();
        b.pipeline.epoch();
      }
      CHECK(b.core->is_idle());
    }
  }
}

TEST_CASE("a drift of long runs is told in milliseconds") {
  bench b({.watch_every = 1});
  for (const int microseconds : {1500, 1800}) {
    b.fake.set_time([=](const auto&) { return std::chrono::microseconds(microseconds); });
    for (int i = 0; i < 400; ++i) b.frame();
    b.core->step();
  }
  b.core->step();
  REQUIRE(b.heard->events.size() == 1);
  CHECK(b.heard->events[0].reason == "a run takes 1.8 ms, 1.200 times the 1.5 ms before");
}

TEST_CASE("a drift is reported, and may have the key tuned again") {
  std::vector<tune::live_event> asked;
  bench b({.watch_every = 1,
           .drifted = [&](const tune::live_event& event) { asked.push_back(event); }});
  for (int i = 0; i < 400; ++i) b.frame();
  b.core->step();
  CHECK(b.heard->events.empty());
  b.fake.set_time([](const auto&) { return std::chrono::nanoseconds(1200); });
  for (int i = 0; i < 400; ++i) b.frame();
  b.core->step();
  b.core->step();
  REQUIRE(b.heard->events.size() == 1);
  CHECK(b.heard->events[0].change == live_change::drifted);
  CHECK(*b.heard->events[0].ratio == doctest::Approx(1.2));
  CHECK(b.heard->events[0].before == tune::to_values(step_tuning{}));
  CHECK(b.heard->events[0].reason == "a run takes 1.2 us, 1.200 times the 1 us before");
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].subject.function == "live_sample.step");
  CHECK(b.pipeline.counts().drifts == 1);
  for (int i = 0; i < 1000; ++i) b.frame();
  b.core->step();
  CHECK(b.pipeline.counts().drifts == 1);
}

TEST_CASE("a swap while the queue is being captured waits for the end of that") {
  bench b({.compare = false});
  b.publish({.mark = 2});
  b.core->step();
  b.frame();
  b.core->step();
  const auto graph = b.queue.capture([&] {
    b.instance->run();
    b.pipeline.epoch();
    CHECK(b.mark() == 1);
  });
  CHECK(graph);
  b.frame();
  CHECK(b.mark() == 2);
}

TEST_CASE("times that come late are waited for, and those that never come end the comparison") {
  bench b({.block_epochs = 2});
  b.fake.hold_events(true);
  b.publish({.mark = 2, .time = 900});
  b.settle(10'000);
  CHECK(b.mark() == 1);
  CHECK(b.heard->events.back().change == live_change::taken_back);
  CHECK(b.heard->events.back().reason.find("too few") != std::string::npos);
  b.fake.hold_events(false);
  b.core->step();
  CHECK(b.core->is_idle());
}

}  // namespace live_test
