// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/wait_report.hpp"

#include <csignal>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "tests/store/lock_keeper.hpp"

namespace wait_report_test {

using namespace std::chrono_literals;
using tune::wait_cause;
using tune::wait_report;
using tune::waiting_event;

struct listener final : tune::observer {
  void waiting(const waiting_event& event) override { heard.push_back(event); }
  std::vector<waiting_event> heard;
};

struct scene {
  scene() { subject.function = "waits"; }

  tune::tuning_subject subject;
  std::shared_ptr<listener> hears = std::make_shared<listener>();
  std::vector<std::shared_ptr<tune::observer>> observers{hears};

  wait_report report(wait_cause cause = wait_cause::device) {
    return wait_report(cause, subject, observers, 600s);
  }
};

TEST_CASE("who waits says so within a second, then less and less often, and at its end") {
  scene s;
  {
    wait_report report = s.report();
    for (auto waited = 0ms; waited <= 10s; waited += 10ms) report.look(waited, ::getpid());
  }
  REQUIRE(s.hears->heard.size() == 6);
  std::vector<double> times;
  for (const waiting_event& event : s.hears->heard) {
    times.push_back(std::chrono::duration<double>(event.waited).count());
  }
  CHECK(times == std::vector<double>{0.5, 1, 2, 4, 8, 8});
  CHECK(s.hears->heard.front().subject.function == "waits");
  CHECK(s.hears->heard.front().limit == 600s);
  CHECK_FALSE(s.hears->heard[4].over);
  CHECK(s.hears->heard.back().over);
}

TEST_CASE("a short wait is not told of") {
  scene s;
  s.report().look(499ms, ::getpid());
  CHECK(s.hears->heard.empty());
}

TEST_CASE("the holder is named, and that it is stopped or rests") {
  scene s;
  wait_report report = s.report(wait_cause::search);
  const tune::testing::lock_keeper other([] { return 0; });
  const std::string name = "process " + std::to_string(other.id()) + " (tune_tests)";
  report.look(1s, other.id());
  CHECK(describe(s.hears->heard.back()) == name + " tunes the same");
  report.look(20s, other.id());
  CHECK(describe(s.hears->heard.back()) ==
        name + ", which has used no processor time for 19 s, tunes the same");
  other.send(SIGSTOP);
  ::waitpid(other.id(), nullptr, WUNTRACED);
  report.look(200s, other.id());
  CHECK(describe(s.hears->heard.back()) == name + ", which is stopped, tunes the same");
  report.look_for(wait_cause::database, 1s, {});
  CHECK(describe(s.hears->heard.back()) == "another process keeps the database");
}

TEST_CASE("another thread is one of this process") {
  const waiting_event event{
      .subject = {}, .cause = wait_cause::device, .holder = tune::look_at_holder(::getpid())};
  CHECK(describe(event) == "another thread measures on the device");
}

TEST_CASE("inside of a tuning its observers hear of it too, and who watches it instead of all") {
  struct watch final : tune::step_listener {
    void step_begins(const tune::search_step&) override {}
    void step_ends() noexcept override {}
    void wait_begins(std::chrono::milliseconds) override { said += "begins "; }
    void waiting(const waiting_event& event) override { said += event.over ? "over " : "waits "; }
    void wait_ends() noexcept override { said += "ends "; }
    std::string said;
  };
  scene outer;
  scene inner;
  {
    const tune::detail::tuning_under_way now(outer.subject, nullptr, &outer.observers);
    inner.report().look(1s, ::getpid());
    CHECK(outer.hears->heard.size() == 2);
    CHECK(inner.hears->heard.size() == 2);
  }
  watch watches;
  const tune::detail::tuning_under_way now(outer.subject, &watches, &outer.observers);
  inner.report().look(1s, ::getpid());
  CHECK(watches.said == "begins waits ends over ");
  CHECK(outer.hears->heard.size() == 2);
}

}  // namespace wait_report_test
