// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/console/reports.hpp"
#include "libtune/console/result_text.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "tests/console/sample_search.hpp"

namespace table_reports_test {

using namespace std::chrono_literals;
using namespace tune::testing;
using tune::format_clock;
using tune::format_run_time;
using tune::named_value;
using tune::outcome;
using tune::run_time;
using tune::search_finished_event;
using tune::varying_fields;
using fields = std::vector<named_value>;

std::string table_of(const search_finished_event& search,
                     const tune::table_options& options = {.coverage = false}) {
  std::ostringstream out;
  tune::write_table(out, search, options);
  return out.str();
}

TEST_CASE("a table shows the fastest first and what is the same for all once") {
  CHECK(table_of(successful_search()) ==
        R"(The same for all: tile=1
   block_x  block_y     time            interval  spread  samples  prepared in
>       16        4  50.0 us                   -   0.0 %        1      12.3 ms
*       32        2  52.5 us                   -   0.0 %        2      12.3 ms
        16        2  53.1 us  53.0 us to 53.2 us   0.3 %        3      12.3 ms
Best (>): 50.0 us (block_x=16, block_y=4); 1 within 5 % of it (*)
No configuration was skipped.
)");
}

TEST_CASE("a table shows the metrics that differ between configurations") {
  CHECK(table_of(search_with_metrics()) ==
        R"(The same for all: tile=1
   block_x  block_y     time            interval  spread  samples  prepared in  energy         gflops
>       16        4  50.0 us                   -   0.0 %        1      12.3 ms  0.25 J              -
*       32        2  52.5 us                   -   0.0 %        2      12.3 ms       -              -
        16        2  53.1 us  53.0 us to 53.2 us   0.3 %        3      12.3 ms       -  812.5 GFLOP/s
Best (>): 50.0 us (block_x=16, block_y=4); 1 within 5 % of it (*)
No configuration was skipped.
)");
}

TEST_CASE("with another goal the best by it comes first, and several have a Pareto front") {
  search_finished_event search = successful_search();
  search.trials[0].metrics = {{"power", 90, "W"}};
  search.trials[1].metrics = {{"power", 120, "W"}};
  search.trials[2].metrics = {{"power", 120, "W"}};
  search.goal = {.objectives = {tune::minimise("power"), tune::minimise("time")}};
  search.best = 0;
  CHECK(table_of(search) ==
        R"(The same for all: tile=1
Goal: min power, min time
   block_x  block_y     time            interval  spread  samples  prepared in  power
>       16        2  53.1 us  53.0 us to 53.2 us   0.3 %        3      12.3 ms   90 W
*       16        4  50.0 us                   -   0.0 %        1      12.3 ms  120 W
*       32        2  52.5 us                   -   0.0 %        2      12.3 ms  120 W
Best (>): 53.1 us (block_x=16, block_y=2); 2 within 5 % of it (*)
Pareto front:
  power 90 W, time 53.1 us (block_x=16, block_y=2)
  power 120 W, time 50.0 us (block_x=16, block_y=4)
No configuration was skipped.
)");
}

TEST_CASE("configurations without a time are counted by their reasons") {
  CHECK(table_of(mixed_search()) ==
        R"(The same for all: tile=1
   block_x  block_y     time            interval  spread  samples  prepared in
>       16        4  50.0 us                   -   0.0 %        1      12.3 ms
*       32        2  52.5 us                   -   0.0 %        2      12.3 ms
        16        2  53.1 us  53.0 us to 53.2 us   0.3 %        3      12.3 ms
Best (>): 50.0 us (block_x=16, block_y=4); 1 within 5 % of it (*)
1 x skipped
2 x over a device limit: it needs too much
1 x compile failed: blur.kernel does not compile
1 x invalid time: a time is NaN, infinite, zero or negative
)");
}

TEST_CASE("where all failed the table says so, and lists each when asked to") {
  CHECK(table_of(failed_search(), {.verbose = true, .coverage = false}) ==
        R"(The same for all: tile=1
No configuration could be measured.
1 x skipped
2 x over a device limit: it needs too much
1 x compile failed: blur.kernel does not compile
1 x invalid time: a time is NaN, infinite, zero or negative
  block_x=32, block_y=4: over a device limit: it needs too much
  block_x=64, block_y=2: compile failed: blur.kernel does not compile
    error: "x", unknown
    here
  block_x=64, block_y=4: skipped
  block_x=64, block_y=8: invalid time: a time is NaN, infinite, zero or negative
  block_x=96, block_y=4: over a device limit: it needs too much
)");
}

TEST_CASE("a single configuration is shown with all its fields") {
  search_finished_event search;
  search.trials = {measured_trial(0, sample_configuration(16, 2), {1'000'000})};
  search.best = 0;
  CHECK(table_of(search) ==
        R"(   block_x  block_y  tile     time  interval  spread  samples  prepared in
>       16        2     1  1.00 ms         -   0.0 %        1      12.3 ms
Best (>): 1.00 ms (block_x=16, block_y=2, tile=1); 0 within 5 % of it
No configuration was skipped.
)");
}

TEST_CASE("a configuration without fields is shown by its time") {
  search_finished_event search;
  search.trials = {measured_trial(0, {}, {1'000'000})};
  CHECK(table_of(search).find("Best (>): 1.00 ms; 0 within") != std::string::npos);
}

TEST_CASE("of equal times the best is the earlier configuration of the space, as in the search") {
  search_finished_event search;
  search.trials = {measured_trial(7, sample_configuration(1, 1), {100}),
                   measured_trial(2, sample_configuration(2, 2), {100})};
  search.best = 1;
  CHECK(table_of(search).find("Best (>): 100 ns (block_x=2, block_y=2)") != std::string::npos);
}

TEST_CASE("the choice of the search comes first, even where another was measured as faster") {
  search_finished_event search;
  search.trials = {measured_trial(0, sample_configuration(1, 1), {100}),
                   measured_trial(1, sample_configuration(2, 2), {102})};
  search.best = 1;
  search.trials[1].bounds = {tune::run_time(101), tune::run_time(104)};
  CHECK(table_of(search) == R"(The same for all: tile=1
   block_x  block_y    time          interval  spread  samples  prepared in
>        2        2  102 ns  101 ns to 104 ns   0.0 %        1      12.3 ms
*        1        1  100 ns                 -   0.0 %        1      12.3 ms
Best (>): 102 ns (block_x=2, block_y=2); 1 within 5 % of it (*)
No configuration was skipped.
)");
}

TEST_CASE("samples that are NaN beside a time do no harm") {
  search_finished_event search = successful_search();
  search.trials[0].samples = samples_of({not_a_number});
  CHECK(table_of(search).find("53.1 us  53.0 us to 53.2 us   nan %        1") != std::string::npos);
}

TEST_CASE("of many different reasons the most frequent are told") {
  search_finished_event search;
  for (int i = 0; i < 9; ++i) {
    search.trials.push_back(failed_trial(0, sample_configuration(i, 0), outcome::wrong_result,
                                         "element " + std::string(1, "bbcdefghb"[i])));
  }
  CHECK(table_of(search) == R"(The same for all: block_y=0, tile=1
No configuration could be measured.
3 x wrong result: element b
1 x wrong result: element c
1 x wrong result: element d
1 x wrong result: element e
1 x wrong result: element f
2 x wrong result: other reasons
)");
}

TEST_CASE("reasons that differ in numbers only are one, and the first is shown") {
  search_finished_event search;
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i + 1);
    search.trials.push_back(failed_trial(0, sample_configuration(i, 0), outcome::compile_failed,
                                         "k:" + number + ":1: error: expected ';'\nn=" + number));
  }
  CHECK(table_of(search) == R"(The same for all: block_y=0, tile=1
No configuration could be measured.
3 x compile failed: k:1:1: error: expected ';', and the like
)");
}

TEST_CASE("a search without trials has no table") {
  CHECK(table_of({}) == "No configuration was tried.\n");
}

TEST_CASE("the reporter writes the table at the end of each search") {
  std::ostringstream out;
  tune::table_reporter reporter(out, {.verbose = true});
  reporter.search_finished(failed_search());
  reporter.search_finished(successful_search());
  CHECK(out.str() == table_of(failed_search(), {.verbose = true}) +
                         table_of(successful_search(), {.verbose = true}));
}

TEST_CASE("a search logs its coverage, unless it tried a chosen list or stopped after its seeds") {
  std::vector<std::string> lines;
  tune::detail::redirect_log(
      [&](tune::log_level, std::string_view line) { lines.emplace_back(line); });
  std::vector<std::shared_ptr<tune::observer>> added;
  tune::detail::open_doors().add_observers(added, {}, {}, true);
  const auto search = [&](bool covers, bool stopped) {
    search_finished_event end = successful_search();
    end.seeds.stopped = stopped;
    tune::search_started_event begin;
    begin.covers = covers;
    for (const auto& each : added) {
      each->on(begin);
      each->on(end);
    }
  };
  search(false, false);
  search(true, true);
  CHECK(lines.empty());
  search(true, false);
  tune::detail::redirect_log({});
  REQUIRE(!lines.empty());
  CHECK(lines.front().starts_with("blur.autotune (type=float32, radius=2): "));
  CHECK(lines.front().ends_with(" measured"));
}

TEST_CASE("the table ends with the coverage: every value of what varied, and the steps") {
  auto search = mixed_search();
  search.space = {
      .combinations = 12,
      .configurations = 10,
      .removals = {{"block_x fits", 2}},
      .parameters = {
          {"block_y", {std::int64_t{2}, std::int64_t{4}, std::int64_t{8}, std::int64_t{16}}},
          {"tile", {std::int64_t{1}}}}};
  search.end = tune::search_end::trials;
  const std::string text = table_of(search, {});
  const auto from = text.find("Coverage: ");
  REQUIRE(from != std::string::npos);
  CHECK(text.substr(from).starts_with(
      "Coverage: 12 combinations - 2 (block_x fits) - 2 (not tried: the trials of the budget were "
      "used up) - 2 (over a device limit) - 1 (compile failed) - 1 (invalid time) - 1 (skipped) = "
      "3 measured\n"
      "   parameter  share  value  tried  measured     best  ratio"));
  CHECK(text.find("block_y   ") != std::string::npos);
  CHECK(text.find("      2      3         2  52.5 us") != std::string::npos);
  CHECK(text.find("     16      0         0        -      -             -\n") != std::string::npos);
  CHECK(text.find("tile  ", from) == std::string::npos);
}

TEST_CASE("what could not be settled is noted below the table") {
  auto search = successful_search();
  search.doubts = {"the helper was not found", "the device was slower at the end"};
  CHECK(
      table_of(search).ends_with("No configuration was skipped.\n"
                                 "Note: the helper was not found\n"
                                 "Note: the device was slower at the end\n"));
}

TEST_CASE("the device memory that a search held is noted, where it is known") {
  auto search = successful_search();
  search.memory_budget_bytes = std::size_t{33} << 29;
  search.memory_held_bytes = std::size_t{3} << 19;
  CHECK(table_of(search).ends_with(
      "Device memory: 1.5 MiB at the most, of 16896 MiB that it could hold\n"));
}

TEST_CASE("of one configuration every field is worth showing") {
  varying_fields seen;
  CHECK(seen.varying(sample_configuration(1, 2)) == sample_configuration(1, 2));
  CHECK(seen.common().empty());
  seen.add(sample_configuration(1, 2));
  CHECK(seen.varying(sample_configuration(1, 2)) == sample_configuration(1, 2));
  CHECK(seen.common().empty());
}

TEST_CASE("fields that have differed are told from those that have not") {
  varying_fields seen;
  seen.add(sample_configuration(1, 2));
  seen.add(sample_configuration(1, 4));
  CHECK(seen.varying(sample_configuration(1, 2)) == fields{{"block_y", std::int64_t{2}}});
  CHECK(seen.common() == fields{{"block_x", std::int64_t{1}}, {"tile", std::int64_t{1}}});
  seen.add(sample_configuration(3, 2));
  CHECK(to_string(seen.varying(sample_configuration(3, 2))) == "block_x=3, block_y=2");
  CHECK(to_string(seen.common()) == "tile=1");
}

TEST_CASE("a field that differed once goes on varying") {
  varying_fields seen;
  for (const std::int64_t y : {1, 2, 1, 1}) seen.add(sample_configuration(1, y));
  CHECK(to_string(seen.varying(sample_configuration(1, 1))) == "block_y=1");
}

TEST_CASE("equal numbers of different types differ, and so does an empty optional") {
  varying_fields seen;
  seen.add({{"a", std::int64_t{1}}, {"b", std::int64_t{0}}, {"c", std::string("x")}});
  seen.add({{"a", 1.0}, {"b", tune::value()}, {"c", std::string("x")}});
  CHECK(to_string(seen.common()) == "c=x");
}

TEST_CASE("configurations without fields have nothing in common and nothing to show") {
  varying_fields seen;
  seen.add({});
  seen.add({});
  CHECK(seen.common().empty());
  CHECK(seen.varying({}).empty());
}

TEST_CASE("the trials without a time count like the others") {
  const auto search = tune::testing::failed_search();
  CHECK(to_string(varying_fields(search.trials).common()) == "tile=1");
}

TEST_CASE("a result is written with its fields, or alone") {
  CHECK(tune::format_result(tune::run_time(53'100), sample_configuration(16, 2)) ==
        "53.1 us (block_x=16, block_y=2, tile=1)");
  CHECK(tune::format_result(tune::run_time(53'100), {}) == "53.1 us");
}

TEST_CASE("a run time has three digits and a fitting unit") {
  CHECK(format_run_time(run_time(0)) == "0.00 ns");
  CHECK(format_run_time(run_time(1.234)) == "1.23 ns");
  CHECK(format_run_time(run_time(12.34)) == "12.3 ns");
  CHECK(format_run_time(run_time(999.4)) == "999 ns");
  CHECK(format_run_time(run_time(53'100)) == "53.1 us");
  CHECK(format_run_time(1200us) == "1.20 ms");
  CHECK(format_run_time(2s) == "2.00 s");
  CHECK(format_run_time(12345s) == "12345 s");
  CHECK(format_run_time(run_time(-1500)) == "-1.50 us");
}

TEST_CASE("rounding never leaves a fourth digit behind") {
  CHECK(format_run_time(run_time(999.5)) == "1.00 us");
  CHECK(format_run_time(run_time(9.996)) == "10.0 ns");
  CHECK(format_run_time(run_time(99.96)) == "100 ns");
  CHECK(format_run_time(run_time(999'600)) == "1.00 ms");
}

TEST_CASE("what is no time has no unit") {
  CHECK(format_run_time(run_time(std::numeric_limits<double>::quiet_NaN())) == "nan");
  CHECK(format_run_time(run_time(std::numeric_limits<double>::infinity())) == "inf");
}

TEST_CASE("a clock shows minutes and seconds, and hours where there are any") {
  CHECK(format_clock(0s) == "0:00");
  CHECK(format_clock(7999ms) == "0:07");
  CHECK(format_clock(59min + 59s) == "59:59");
  CHECK(format_clock(1h) == "1:00:00");
  CHECK(format_clock(25h + 2min + 3s) == "25:02:03");
  CHECK(format_clock(-5s) == "0:00");
}

}  // namespace table_reports_test
