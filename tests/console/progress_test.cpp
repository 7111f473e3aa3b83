// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/progress.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <utility>

#include "libtune/testing/fake_device.hpp"
#include "tests/console/sample_search.hpp"

namespace progress_test {

using namespace std::chrono_literals;
using namespace tune::testing;
using tune::outcome;
using tune::search_started_event;

/// A reporter whose clock stands still until a trial takes time.
class watched_progress {
 public:
  explicit watched_progress(bool is_terminal)
      : reporter_(out_, is_terminal, [this] { return clock_.now(); }) {}
  /// With a search whose beginning has been told.
  watched_progress(bool is_terminal, std::size_t planned) : watched_progress(is_terminal) {
    start(planned);
    take();
  }

  void start(std::size_t planned, std::vector<tune::removal> removals = {}) {
    reporter_.search_started({.subject = sample_subject(),
                              .strategy = "exhaustive",
                              .combinations = 12,
                              .configurations = 10,
                              .planned = planned,
                              .removals = std::move(removals)});
  }
  void finish_trial(const tune::trial& finished, std::chrono::nanoseconds after) {
    clock_.advance(after);
    reporter_.trial_finished(sample_subject(), finished);
  }
  void tell(const tune::search_progress& progress, std::chrono::nanoseconds after) {
    clock_.advance(after);
    reporter_.progressed(sample_subject(), progress);
  }
  void wait(const tune::waiting_event& event, std::chrono::nanoseconds after) {
    clock_.advance(after);
    reporter_.waiting(event);
  }
  void finish(const tune::search_finished_event& event) { reporter_.search_finished(event); }

  /// What has been written since the last call.
  std::string take() {
    std::string text = out_.str();
    out_.str({});
    return text;
  }

 private:
  std::ostringstream out_;
  fake_clock clock_;
  tune::progress_reporter reporter_;
};

tune::trial timed(std::int64_t x, std::int64_t y, double nanoseconds) {
  return measured_trial(0, sample_configuration(x, y), {nanoseconds});
}

tune::trial untimed(std::int64_t x, std::int64_t y) {
  return failed_trial(0, sample_configuration(x, y), outcome::skipped, "");
}

TEST_CASE("the start of a search is told with what was excluded") {
  watched_progress progress(false);
  progress.start(10, {{"block_x * block_y <= 1024", 2}, {"", 1}});
  CHECK(progress.take() ==
        "Tuning blur.autotune version 3 (type=float32, radius=2) on device 'some device'\n"
        "10 configurations of 12 combinations, 10 to try (exhaustive)\n"
        "  2 combinations excluded: block_x * block_y <= 1024\n"
        "  1 combinations excluded: a restriction without a description\n");
}

TEST_CASE("off a terminal there is a line after the first trial, then one every two seconds") {
  watched_progress progress(false, 10);
  progress.finish_trial(timed(16, 2, 53'100), 500ms);
  CHECK(progress.take() ==
        "[1/10] 0:00 elapsed, 0:05 left, best 53.1 us (block_x=16, block_y=2, tile=1)\n");
  progress.finish_trial(timed(16, 4, 50'000), 1s);
  progress.finish_trial(timed(32, 4, 60'000), 900ms);
  CHECK(progress.take().empty());
  progress.finish_trial(untimed(64, 4), 100ms);
  CHECK(progress.take() ==
        "[4/10] 0:02 elapsed, 0:04 left, best 50.0 us (block_x=16, block_y=4)\n");
}

TEST_CASE("the last trial off a terminal needs no line, the end follows") {
  watched_progress progress(false);
  progress.start(2);
  progress.finish_trial(timed(16, 2, 53'100), 1s);
  progress.take();
  progress.finish_trial(timed(16, 4, 50'000), 1s);
  CHECK(progress.take().empty());
  progress.finish(successful_search());
  CHECK(progress.take() == "3 configurations tried in 1.5 s\n");
}

TEST_CASE("the end of a search that was not gone through says why") {
  watched_progress progress(false, 2);
  auto search = successful_search();
  search.end = tune::search_end::no_gain;
  progress.finish(search);
  CHECK(progress.take() == "3 configurations tried in 1.5 s; ended by: no more gain expected\n");
}

TEST_CASE("on a terminal one line is written over and over, and erased at the end") {
  watched_progress progress(true, 3);
  progress.finish_trial(timed(16, 2, 53'100), 10ms);
  CHECK(progress.take() ==
        "\r\x1b[K\x1b[?7l[1/3] 0:00 elapsed, 0:01 left, best 53.1 us (block_x=16, block_y=2, "
        "tile=1)\x1b[?7h");
  progress.finish_trial(timed(16, 4, 50'000), 49ms);
  CHECK(progress.take().empty());
  // The last one is shown however soon it comes.
  progress.finish_trial(timed(16, 8, 54'000), 0ms);
  CHECK(progress.take() == "\r\x1b[K\x1b[?7l[3/3] 0:00 elapsed, best 50.0 us (block_y=4)\x1b[?7h");
  progress.finish(successful_search());
  CHECK(progress.take() == "\r\x1b[K3 configurations tried in 1.5 s\n");
}

TEST_CASE("on a terminal the line is renewed every 50 ms") {
  watched_progress progress(true);
  progress.start(100);
  progress.finish_trial(timed(16, 2, 53'100), 10ms);
  progress.take();
  progress.finish_trial(timed(16, 4, 53'100), 50ms);
  CHECK_FALSE(progress.take().empty());
}

TEST_CASE("the time that is left is not told before it is known") {
  watched_progress progress(false, 10);
  progress.finish_trial(untimed(16, 2), 0ns);
  CHECK(progress.take() == "[1/10] 0:00 elapsed\n");
}

TEST_CASE("the time that is left is not told where more is tried than was planned") {
  watched_progress progress(false);
  progress.start(1);
  progress.finish_trial(timed(16, 2, 100), 2s);
  progress.take();
  progress.finish_trial(timed(16, 4, 200), 2s);
  CHECK(progress.take() == "[2/1] 0:04 elapsed, best 100 ns (block_y=2)\n");
}

TEST_CASE("where all fail there is no best") {
  watched_progress progress(false, 4);
  progress.finish_trial(untimed(16, 2), 61s);
  CHECK(progress.take() == "[1/4] 1:01 elapsed, 3:03 left\n");
}

TEST_CASE("a second search starts afresh") {
  watched_progress progress(false);
  progress.start(4);
  progress.finish_trial(timed(16, 2, 100), 3s);
  progress.start(2);
  progress.take();
  progress.finish_trial(timed(32, 4, 200), 2s);
  CHECK(progress.take() ==
        "[1/2] 0:02 elapsed, 0:02 left, best 200 ns (block_x=32, block_y=4, tile=1)\n");
}

TEST_CASE("trials of an interrupted search count, but not for the time left") {
  std::ostringstream out;
  fake_clock clock;
  tune::progress_reporter reporter(out, false, [&] { return clock.now(); });
  search_started_event event{.subject = sample_subject(),
                             .strategy = "exhaustive",
                             .combinations = 12,
                             .configurations = 10,
                             .planned = 10};
  event.taken_over = 2;
  reporter.search_started(event);
  CHECK(out.str().find("2 taken over from a search that was interrupted") != std::string::npos);
  out.str({});
  for (const std::int64_t x : {1, 2}) {
    reporter.trial_taken_over(event.subject, timed(x, 1, 1000 * static_cast<double>(x)));
  }
  CHECK(out.str().empty());
  clock.advance(1s);
  reporter.trial_finished(event.subject, timed(3, 1, 3000));
  CHECK(out.str().starts_with("[3/10] 0:01 elapsed, 0:07 left, best"));
}

TEST_CASE("what is being compiled, was dropped or failed is told, also before there is a time") {
  watched_progress progress(false, 10);
  progress.tell({.planned = 10, .compiling = 8}, 1s);
  CHECK(progress.take().empty());
  progress.tell({.planned = 10, .compiling = 8, .failed = 1}, 1s);
  CHECK(progress.take() == "[0/10] 0:02 elapsed, 8 compiling, 1 failed\n");
  progress.tell({.planned = 10, .compiling = 2, .dropped = 3}, 2s);
  CHECK(progress.take() == "[0/10] 0:04 elapsed, 2 compiling, 3 dropped\n");
}

TEST_CASE("a budget bounds the first line too, and the number of configurations") {
  std::ostringstream out;
  fake_clock clock;
  tune::progress_reporter reporter(out, false, [&] { return clock.now(); });
  search_started_event event{.subject = sample_subject(),
                             .strategy = "random",
                             .combinations = 300'000,
                             .configurations = 241'600,
                             .planned = 241'600};
  event.budget_left = 20s;
  reporter.search_started(event);
  CHECK(out.str().find("300000 combinations, up to 241600 to try in 0:20 (random)") !=
        std::string::npos);
  out.str({});
  clock.advance(4s);
  reporter.trial_finished(event.subject, timed(1, 1, 1000));
  CHECK(out.str().starts_with("[1/~5] 0:04 elapsed, 0:16 left, best"));
  out.str({});
  clock.advance(12s);
  reporter.progressed(event.subject, {.planned = 241'600, .budget_left = 4s});
  CHECK(out.str().starts_with("[1/~1] 0:16 elapsed, 0:04 left, best"));
}

TEST_CASE("a budget bounds the time that is left") {
  watched_progress progress(false);
  progress.start(10);
  progress.finish_trial(timed(16, 2, 53'100), 5s);
  progress.take();
  progress.tell({.planned = 10, .budget_left = 7s}, 2s);
  CHECK(progress.take().find("0:07 left") != std::string::npos);
}

TEST_CASE("whom a search waits for is said at once, until the wait is over") {
  watched_progress progress(false, 4);
  tune::waiting_event event{
      .subject = sample_subject(),
      .cause = tune::wait_cause::device,
      .holder = tune::lock_holder{.process = 12, .program = "receiver", .stopped = true},
      .waited = 500ms,
      .limit = 600s};
  progress.wait(event, 500ms);
  CHECK(progress.take() ==
        "[0/4] 0:00 elapsed, waiting: process 12 (receiver), which is stopped, measures on the "
        "device\n");
  event.over = true;
  progress.wait(event, 1s);
  CHECK(progress.take() == "[0/4] 0:01 elapsed\n");
}

TEST_CASE("a change of a tuning in service has a line of its own") {
  std::ostringstream out;
  tune::progress_reporter reporter(out, false);
  reporter.on(tune::live_event{.subject = sample_subject(),
                               .change = tune::live_change::kept,
                               .before = {{"wgs", std::int64_t{32}}},
                               .after = {{"wgs", std::int64_t{64}}},
                               .reason = "it takes 0.912 of the time"});
  CHECK(out.str().ends_with(": wgs=64 is kept in place of wgs=32: it takes 0.912 of the time\n"));
}

TEST_CASE("before a search begins a wait has a line of its own") {
  watched_progress progress(false);
  tune::waiting_event event{.subject = sample_subject(),
                            .holder = tune::lock_holder{.process = 12, .program = "receiver"},
                            .waited = 2s};
  progress.wait(event, 2s);
  const std::string text = progress.take();
  CHECK(text.find("waiting: process 12 (receiver) tunes the same, 0:02 so far\n") !=
        std::string::npos);
  event.over = true;
  progress.wait(event, 1s);
  CHECK(progress.take().empty());
}

}  // namespace progress_test
