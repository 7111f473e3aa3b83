// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

#include "libtune/base/error.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/extra/metrics.hpp"
#include "libtune/extra/metrics/capture_metrics.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/extra/metrics/parsed_metrics.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/file_size_limit.hpp"
#include "tests/store/temporary_folder.hpp"

namespace metrics_exporter_test {

using namespace std::chrono_literals;
using parsed_metrics::page;
using tune::metrics_exporter;
using tune::testing::content_of;
using tune::testing::scoped_environment;
using tune::testing::temporary_directory;

/// Waits for something that another thread does, for a minute at most.
template <class Condition>
bool wait_for(const Condition& holds) {
  const auto until = std::chrono::steady_clock::now() + 1min;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

TEST_CASE("both texts keep the rules of their formats, and hold the frames of a clock") {
  tune::frame_clock frames("exporter.text \"1\"", 5ms);
  frames.record(4ms);
  frames.record(9ms);
  const metrics_exporter metrics({.program = "tests"});
  CHECK_FALSE(metrics.is_on());
  const page read(metrics.text());
  const std::string labels = R"({program="tests",pipeline="exporter.text \"1\""})";
  CHECK(read.find("libtune_frame_seconds_count" + labels) == 2);
  CHECK(read.find("libtune_frame_seconds_sum" + labels) == doctest::Approx(0.013));
  CHECK(read.find("libtune_frames_late_total" + labels) == 1);
  CHECK(read.find("libtune_frame_deadline_seconds" + labels) == 0.005);
  CHECK(read.find("libtune_frame_longest_seconds" + labels) == 0.009);
  const auto late =
      read.find(R"(libtune_frame_seconds{program="tests",pipeline="exporter.text \"1\"",)"
                R"(quantile="0.9999"})");
  REQUIRE(late);
  CHECK(*late == doctest::Approx(0.009).epsilon(0.008));
  CHECK(read.find("libtune_running{program=\"tests\"}") == 1);
  const page open(metrics.text(tune::metrics_format::openmetrics), true);
  CHECK(open.families()
            .at("libtune_frames_late")
            .samples.count("libtune_frames_late_total" + labels) == 1);
  for (const auto& each : read.families()) {
    CAPTURE(each.first);
    CHECK(each.first.starts_with("libtune_"));
    CHECK(each.second.help.ends_with("."));
  }
}

TEST_CASE("the file is replaced as a whole, and anybody may read it") {
  const temporary_directory folder;
  const auto file = folder / "sample.prom";
  const ::mode_t before = ::umask(0077);
  {
    const metrics_exporter metrics({.file = file, .every = 1ms});
    CHECK(metrics.is_on());
    CHECK(wait_for([&] { return metrics.counts().written >= 20; }));
    for (int i = 0; i < 20; ++i) {
      const page read(content_of(file));
      CHECK(read.find("libtune_running{program=\"sample\"}") == 1);
    }
    CHECK(metrics.counts().failed == 0);
  }
  ::umask(before);
  CHECK(page(content_of(file)).find("libtune_running{program=\"sample\"}") == 0);
  const auto rights = std::filesystem::status(file).permissions();
  CHECK(rights == static_cast<std::filesystem::perms>(0644));
  // No temporary file is left for the collector.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a function receives each text, one at a time, in the format that it wants") {
  std::atomic<int> inside{0};
  std::atomic<int> texts{0};
  std::atomic<bool> right{true};
  {
    const metrics_exporter metrics({.every = 1ms,
                                    .receives =
                                        [&](std::string_view text) {
                                          if (++inside != 1) right = false;
                                          if (!text.ends_with("# EOF\n")) right = false;
                                          ++texts;
                                          --inside;
                                        },
                                    .format = tune::metrics_format::openmetrics});
    CHECK(metrics.is_on());
    CHECK(metrics.write());
    CHECK(wait_for([&] { return texts >= 5; }));
  }
  CHECK(right);
}

TEST_CASE("a folder that is missing is counted, logged once, and may come later") {
  const temporary_directory folder;
  const auto place = folder / "textfile";
  tune::testing::captured_errors log;
  const metrics_exporter metrics({.file = place / "sample.prom", .every = 1h});
  CHECK_FALSE(metrics.write());
  CHECK_FALSE(metrics.write());
  CHECK(metrics.counts().failed >= 2);
  CHECK(metrics.counts().written == 0);
  CHECK(metrics.last_failure().find("No such file") != std::string::npos);
  CHECK(log.count("could not be written to") == 1);
  CHECK(log.text().find("the program goes on") != std::string::npos);
  std::filesystem::create_directory(place);
  CHECK(metrics.write());
  const page read(content_of(place / "sample.prom"));
  CHECK(read.find("libtune_metrics_failed_total{program=\"sample\"}").value() >= 2);
}

TEST_CASE("a full disk leaves the last whole file, and no half one") {
  const temporary_directory folder;
  const auto file = folder / "sample.prom";
  const metrics_exporter metrics({.file = file, .every = 1h});
  REQUIRE(metrics.write());
  {
    const tune::testing::captured_errors log;
    const tune::testing::file_size_limit full(100);
    CHECK_FALSE(metrics.write());
  }
  CHECK_NOTHROW(page(content_of(file)));
  CHECK(wait_for(
      [&] { return std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1; }));
}

TEST_CASE("a source that fails leaves its part out, and the rest is written") {
  const tune::testing::captured_errors log;
  const metrics_exporter metrics({.program = "tests"});
  metrics.add([](tune::metric_page& to) {
    to.gauge("half", "A gauge.", {}, 1);
    throw std::runtime_error("no such thing");
  });
  metrics.add([](tune::metric_page& to) { to.gauge("whole", "A gauge.", {}, 2); });
  const page read(metrics.text());
  CHECK_FALSE(read.find("half{program=\"tests\"}"));
  CHECK(read.find("whole{program=\"tests\"}") == 2);
  CHECK(metrics.counts().failed == 1);
  CHECK(metrics.last_failure().find("no such thing") != std::string::npos);
}

TEST_CASE("a capture adds its counts") {
  const metrics_exporter metrics({.program = "tests"});
  tune::add_capture(metrics, "first", tune::capture("first"));
  tune::add_capture(metrics, "second", tune::capture("second"));
  const page read(metrics.text());
  CHECK(read.find("libtune_captured_frames_total{program=\"tests\",pipeline=\"second\","
                  "outcome=\"written\"}") == 0);
  CHECK(read.families().at("libtune_captured_bytes_total").samples.size() == 2);
}

TEST_CASE("breaches of a seal are counted by their action") {
  const metrics_exporter metrics({.program = "tests"});
  tune::seal({.mode = tune::seal_mode::counts, .scope = tune::seal_scope::this_thread});
  tune::detail::check_seal(tune::sealed_action::tune, [] { return std::string("a test"); });
  const page read(metrics.text());
  tune::unseal(tune::seal_scope::this_thread);
  CHECK(read.find("libtune_seal_breaches_total{program=\"tests\",action=\"tune\"}") == 1);
  CHECK(read.find("libtune_seal_breaches_total{program=\"tests\",action=\"compile\"}") == 0);
}

// NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads the environment
int run(const char* how) {
  const int status = std::system(fmt::format("'{}' {}", LIBTUNE_METRICS_APPLICATION, how).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("however a program ends, its file has its last state") {
  const temporary_directory folder;
  const auto file = folder / "application.prom";
  const scoped_environment set("LIBTUNE_METRICS_FILE", (file.string() + ", each 1 min").c_str());
  const std::string late =
      R"(libtune_frames_late_total{program="application",pipeline="application"})";
  for (const auto& end : {std::pair{"return", 0}, {"static", 0}, {"exit", 3}}) {
    CAPTURE(end.first);
    std::filesystem::remove(file);
    CHECK(run(end.first) == end.second);
    const page read(content_of(file));
    CHECK(read.find("libtune_running{program=\"application\"}") == 0);
    CHECK(read.find(late) == 1);
  }
  CHECK(run("abort") == 4);  // as if it were killed
  CHECK(page(content_of(file)).find("libtune_running{program=\"application\"}") == 1);
}

TEST_CASE("a value that cannot be read stops the program where it makes an exporter") {
  const scoped_environment set("LIBTUNE_METRICS_FILE", "metrics.txt");
  CHECK_THROWS_AS(metrics_exporter(), tune::environment_error);
}

}  // namespace metrics_exporter_test
