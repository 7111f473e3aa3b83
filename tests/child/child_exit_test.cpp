// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/child/tuner_message.hpp"
#include "libtune/child/watchdog.hpp"

namespace child_exit_test {

using namespace std::chrono_literals;
using tune::outcome;
using tune::search_step;
using tune::step_kind;
using tune::detail::child_process;
using tune::detail::classify_exit;
using tune::detail::classify_overtime;
using tune::detail::lost_trial;
using tune::detail::watchdog;

const search_step first_run{
    .kind = step_kind::first_run, .index = 2, .configuration = {{"n", std::int64_t{3}}}};

TEST_CASE("a signal is a crash, and the text names it") {
  const auto found =
      classify_exit(first_run, {.text = "killed by signal 11 (Segmentation fault)"}, true, true);
  REQUIRE(found);
  CHECK(found->outcome == outcome::crashed);
  CHECK(found->reason ==
        "its process ended during its first run: killed by signal 11 (Segmentation fault)");
}

TEST_CASE("a kill is the configuration's fault if memory ran out, or if it happens again") {
  const child_process::end killed{.text = "", .by_kill = true, .from_outside = true};
  CHECK(classify_exit(first_run, killed, true, false)->outcome == outcome::out_of_memory);
  CHECK_FALSE(classify_exit(first_run, killed, false, false));
  const auto found = classify_exit(first_run, killed, false, true);
  REQUIRE(found);
  CHECK(found->outcome == outcome::out_of_memory);
}

TEST_CASE("a signal from outside, or an end that nobody tells, is a crash when it happens again") {
  for (const child_process::end& end :
       {child_process::end{.text = "killed by signal 15", .from_outside = true},
        child_process::end{.text = "how is not known", .is_known = false}}) {
    CHECK(tune::detail::may_be_from_outside(end));
    CHECK_FALSE(classify_exit(first_run, end, false, false));
    const auto found = classify_exit(first_run, end, false, true);
    REQUIRE(found);
    CHECK(found->outcome == outcome::crashed);
    CHECK(found->reason == "its process ended twice during its first run: " + end.text);
  }
}

TEST_CASE("a child that cannot be spoken with has lost its descriptors, whoever ended it") {
  for (const child_process::end& end :
       {child_process::end{.text = "", .by_kill = true, .from_outside = true, .still_ran = true},
        child_process::end{.text = "", .exit_status = tune::detail::lost_link_status}}) {
    CHECK_FALSE(tune::detail::may_be_from_outside(end));
    const auto found = classify_exit(first_run, end, false, false);
    REQUIRE(found);
    CHECK(found->outcome == outcome::crashed);
    CHECK(found->reason.starts_with("it closed or replaced the descriptors of its process"));
  }
}

TEST_CASE("a step that took too long is said to have, with the limit") {
  watchdog watched({.floor = 2s});
  watched.begin(first_run, {}, {});
  const auto found = classify_overtime(watched, 2500ms);
  CHECK(found.outcome == outcome::timed_out);
  CHECK(found.reason.starts_with(
      "its process was stopped after 2.5 s during its first run; the limit was 2 s"));
}

TEST_CASE("the trial of what was lost has its configuration, and no program") {
  const auto lost = lost_trial(first_run, {outcome::crashed, "why"}, 3s);
  CHECK(lost.index == 2);
  CHECK(to_string(lost.configuration) == "n=3");
  CHECK(lost.reason == "why");
  CHECK(lost.elapsed == 3s);
  CHECK(lost.programs.empty());
}

}  // namespace child_exit_test
