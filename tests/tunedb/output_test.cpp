// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/output.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/tunedb/pretune_report.hpp"
#include "tests/store/temporary_folder.hpp"
#include "tests/tunedb/captured_output.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace output_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using namespace tune::cli;
using tune::pretuning_result;
using tune::pretuning_state;

TEST_CASE("cells stand under each other, and no line ends with spaces") {
  const std::string text = output_of([] {
    print_table({{"A", "LONGER", "C"}, {"wide cell", "b"}, {}, {"a", "b", "last"}});
  });
  CHECK(text ==
        "A          LONGER  C\n"
        "wide cell  b\n"
        "\n"
        "a          b       last\n");
}

TEST_CASE("a document is always JSON, whatever bytes it holds") {
  const std::string text = output_of([] { print_json({{"text", std::string("\xff")}, {"n", 1}}); });
  CHECK(json::accept(text));
  CHECK(text.back() == '\n');
}

TEST_CASE("rows are a table or a part of a document") {
  const json row{{"function", "f"},
                 {"version", 3},
                 {"values", {{"a", 1}, {"b", nullptr}, {"c", 1.0}, {"d", true}}},
                 {"device", {{"name", "GPU"}, {"platform", "P"}, {"version", "1"}}},
                 {"score_ns", 1500.0},
                 {"samples_ns", {1, 2}},
                 {"denied", true},
                 {"outcome", "crashed"},
                 {"reason", "its process ended\nlater"}};
  const json rows = json::array({row});
  const auto print = [&](bool as_json) {
    return output_of([&] {
      print_rows(as_json, {{"rows", rows}}, rows,
                 {{"F", nullptr, function_text},
                  {"VALUES", "values"},
                  {"DEVICE", "device"},
                  {"TIME", "score_ns"},
                  {"SAMPLES", "samples_ns"},
                  {"DENIED", "denied"},
                  {"OUTCOME", nullptr, outcome_text}});
    });
  };
  CHECK(json::parse(print(true))["rows"] == rows);
  const std::string text = print(false);
  CHECK(text.substr(text.find('\n') + 1) ==
        "f__3  a=1, b=none, c=1, d=true  GPU (P, 1)  1.50 us  2        yes     "
        "crashed: its process ended\n");
}

TEST_CASE("rows that are printed one by one look like rows that are printed together") {
  const auto columns = {tune::cli::table_column{"NAME", "name"},
                        tune::cli::table_column{"TIME", "time_ns"}};
  const json document{{"function", "f"}, {"version", 1}};
  for (const bool as_json : {true, false}) {
    for (const std::size_t count : {0U, 1U, 3U}) {
      CAPTURE(as_json);
      CAPTURE(count);
      json rows = json::array();
      for (std::size_t i = 0; i < count; ++i) {
        rows.push_back({{"name", std::string(i, 'n') + "\n"}, {"time_ns", 10.0 * double(i)}});
      }
      json whole = document;
      whole["rows"] = rows;
      const auto together = output_of([&] { print_rows(as_json, whole, rows, columns); });
      const auto one_by_one = output_of([&] {
        row_printer printer(as_json, document, "rows", columns);
        for (const json& row : rows) printer.add(row);
        printer.end();
      });
      CHECK(one_by_one == together);
    }
  }
}

TEST_CASE("a table of any length is printed while its rows come") {
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const std::string text = output_of([&] {
    row_printer printer(false, {}, "rows", {{"N", "n"}, {"M", "n"}});
    for (int i = 0; i < 5000; ++i) printer.add({{"n", i}});
    printer.end();
  });
  CHECK(lines(text) == 5001);
  CHECK(contains(text, "\n999  999\n"));
  CHECK(contains(text, "\n4999  4999\n"));
}

TEST_CASE("an empty cell is a dash, and tables without headings have no first line") {
  const json rows = json::array({{{"a", nullptr}, {"b", json::object()}, {"c", "x"}}});
  const std::string text = output_of([&] {
    print_rows(false, {}, rows, {{nullptr, "a"}, {nullptr, "b"}, {nullptr, "c"}});
  });
  CHECK(text == "-  -  x\n");
}

TEST_CASE("for people there is a dash where nothing is") {
  CHECK(time_text(std::nullopt) == "-");
  CHECK(time_text(1500) == "1.50 us");
  CHECK(fields_text({}) == "-");
  CHECK(fields_text({{"a", std::int64_t{1}}, {"b", true}}) == "a=1, b=true");
  CHECK(to_text(tune::device_identity{"GPU", "P", "1"}) == "GPU (P, 1)");
}

TEST_CASE("what was written is read, byte for byte, and takes the place of what was there") {
  const temporary_folder folder;
  const std::string path = folder.file("a.json");
  const std::string content = std::string(200'000, 'x') + std::string("\0\xff\r\n", 4);
  write_file(path, "before");
  write_file(path, content);
  CHECK(read_file(path) == content);
  write_file(path, "");
  CHECK(read_file(path).empty());
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("no file fills the memory") {
  CHECK_THROWS_WITH_AS(read_file("/dev/zero"), doctest::Contains("more than 512 MiB"), tune::error);
}

TEST_CASE("what cannot be read or written names the file, and leaves what is there") {
  const temporary_folder folder;
  CHECK_THROWS_WITH_AS(read_file(folder.file("none")), doctest::Contains("none"), tune::error);
  CHECK_THROWS_AS(read_file(folder.path().string()), tune::error);
  CHECK_THROWS_WITH_AS(write_file(folder.file("no/folder/a"), "x"), doctest::Contains("no/folder"),
                       tune::error);
  fs::create_directory(folder.file("taken"));
  CHECK_THROWS_AS(write_file(folder.file("taken"), "x"), tune::error);
  CHECK(fs::is_directory(folder.file("taken")));
}

tune::tuning_subject subject() {
  tune::tuning_subject of{
      .function = "fill", .version = 2, .arguments = {{"rows", std::int64_t{64}}}, .device = {}};
  of.device.identity = {"GPU One", "Some Platform", "535.104"};
  of.device.backend = "OpenCL";
  return of;
}

pretuning_result result(pretuning_state state) {
  pretuning_result of{.subject = subject(), .state = state};
  of.values = {{"wgs", std::int64_t{32}}};
  of.score = tune::run_time(1500);
  of.trials = 7;
  of.elapsed = std::chrono::seconds(3);
  return of;
}

pretuning_result failed(const std::string& reason) {
  return {.subject = subject(), .state = pretuning_state::failed, .reason = reason};
}

/// A report of one key, by a clock that is set.
struct bench {
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
  std::string run(bool as_json) {
    return output_of([&] {
      pretune_report report(as_json, [this] { return now; });
      CHECK_FALSE(report.has_begun());
      report.planned(1);
      report.began(0, subject());
      tune::search_progress progress{.planned = 20, .measured = 4, .failed = 1};
      progress.best = tune::run_time(1500);
      for (int i = 0; i < 5; ++i) {
        report.progressed(0, progress);
        now += std::chrono::seconds(1);
      }
      report.ended(0, result(pretuning_state::tuned));
    });
  }
};

std::vector<json> objects_in(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    objects.push_back(tune::detail::parse_json<json>(line));
  return objects;
}

TEST_CASE("people read a line for each thing that happens, and progress every two seconds") {
  const std::string title = "[1/1] fill__2 (rows=64) on GPU One (Some Platform, 535.104): ";
  const std::string progress = title + "5 of 20 configurations, 0:00, best 1.50 us\n";
  CHECK(bench().run(false) == progress + progress + progress + title +
                                  "tuned in 3.0 s, 7 configurations, best 1.50 us (wgs=32)\n");
}

TEST_CASE("programs read one object to a line, each with what it is about") {
  const auto objects = objects_in(bench().run(true));
  std::vector<std::string> events;
  for (const json& object : objects) {
    events.push_back(object["event"]);
    CHECK(object["number"] == 1);
    CHECK(object["of"] == 1);
    CHECK(object["function"] == "fill");
    CHECK(object["arguments"] == json{{"rows", 64}});
    CHECK(object["device"]["name"] == "GPU One");
    CHECK(object["backend"] == "OpenCL");
  }
  CHECK(events == std::vector<std::string>{"key_began", "key_progressed", "key_progressed",
                                           "key_progressed", "key_ended"});
  CHECK(objects[1]["measured"] == 4);
  CHECK(objects[1]["best_ns"] == 1500);
  CHECK(objects.back()["result"] == "tuned");
  CHECK(objects.back()["values"] == json{{"wgs", 32}});
  CHECK(objects.back()["elapsed_ns"] == 3'000'000'000);
}

TEST_CASE("the summary is a table, or the numbers of each result") {
  const std::vector<pretuning_result> all{result(pretuning_state::tuned),
                                          result(pretuning_state::present), failed("no room")};
  const std::string table = output_of([&] { print_summary(all, false); });
  CHECK(
      table.find("fill__2   rows=64  GPU One (Some Platform, 535.104)  tuned    1.50 us  wgs=32") !=
      std::string::npos);
  CHECK(table.find("failed   -        -") != std::string::npos);
  const json summary = tune::detail::parse_json<json>(output_of([&] { print_summary(all, true); }));
  CHECK(summary["event"] == "pretune_ended");
  CHECK(summary["tuned"] == 1);
  CHECK(summary["present"] == 1);
  CHECK(summary["failed"] == 1);
  CHECK(summary["stopped"] == 0);
}

TEST_CASE("a failure is told with its reason") {
  const auto text = output_of([&] {
    pretune_report report(false);
    report.planned(1);
    report.began(0, subject());
    report.ended(0, failed("no room"));
  });
  CHECK(text.find("failed: no room") != std::string::npos);
}

TEST_CASE("a signal is noted once, and the second is for the system again") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const interruption watched;
    CHECK_FALSE(interruption::has_come());
    ::raise(signal);
    CHECK(interruption::has_come());
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    CHECK((now.sa_handler == SIG_DFL));
  }
}

TEST_CASE("afterwards signals do what they did before") {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  ::sigaction(SIGINT, &ignored, &before);
  { const interruption watched; }
  struct sigaction now {};
  ::sigaction(SIGINT, &before, &now);
  CHECK((now.sa_handler == SIG_IGN));
}

}  // namespace output_test
