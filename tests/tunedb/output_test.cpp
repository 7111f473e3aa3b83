// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/output.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

#include "libtune/base/error.hpp"
#include "tests/store/temporary_folder.hpp"
#include "tests/tunedb/captured_output.hpp"

namespace output_test {

using tune::cli::fields_text;
using tune::cli::json;
using tune::cli::time_text;
using tune::testing::output_of;

TEST_CASE("cells stand under each other, and no line ends with spaces") {
  const std::string text = output_of([] {
    tune::cli::print_table({{"A", "LONGER", "C"}, {"wide cell", "b"}, {}, {"a", "b", "last"}});
  });
  CHECK(text ==
        "A          LONGER  C\n"
        "wide cell  b\n"
        "\n"
        "a          b       last\n");
}

TEST_CASE("a document is always JSON, whatever bytes it holds") {
  const std::string text = output_of([] {
    tune::cli::print_json({{"text", std::string("\xff")}, {"n", 1}});
  });
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
      tune::cli::print_rows(as_json, {{"rows", rows}}, rows,
                            {{"F", nullptr, tune::cli::function_text},
                             {"VALUES", "values"},
                             {"DEVICE", "device"},
                             {"TIME", "score_ns"},
                             {"SAMPLES", "samples_ns"},
                             {"DENIED", "denied"},
                             {"OUTCOME", nullptr, tune::cli::outcome_text}});
    });
  };
  CHECK(json::parse(print(true))["rows"] == rows);
  const std::string text = print(false);
  CHECK(text.substr(text.find('\n') + 1) ==
        "f__3  a=1, b=none, c=1, d=true  GPU (P, 1)  1.50 us  2        yes     "
        "crashed: its process ended\n");
}

TEST_CASE("an empty cell is a dash, and tables without headings have no first line") {
  const json rows = json::array({{{"a", nullptr}, {"b", json::object()}, {"c", "x"}}});
  const std::string text = output_of([&] {
    tune::cli::print_rows(false, {}, rows, {{nullptr, "a"}, {nullptr, "b"}, {nullptr, "c"}});
  });
  CHECK(text == "-  -  x\n");
}

TEST_CASE("for people there is a dash where nothing is") {
  CHECK(time_text(std::nullopt) == "-");
  CHECK(time_text(1500) == "1.50 us");
  CHECK(fields_text({}) == "-");
  CHECK(fields_text({{"a", std::int64_t{1}}, {"b", true}}) == "a=1, b=true");
  CHECK(tune::cli::to_text(tune::device_identity{"GPU", "P", "1"}) == "GPU (P, 1)");
}

namespace fs = std::filesystem;
using tune::cli::read_file;
using tune::cli::write_file;
using tune::testing::temporary_folder;

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

}  // namespace output_test
