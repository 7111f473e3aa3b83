// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"

namespace tune::testing {

/// Small databases with few different keys, so that they meet often, and values that are hard to
/// keep: extreme integers, -0.0, NaN and infinity in tunings, bytes that are no UTF-8, NUL.
class random_content {
 public:
  explicit random_content(unsigned seed) : random_(seed) {}

  database_content next() {
    database_content content;
    for (int i = number(0, 2); i >= 0; --i) {
      function_content one{.function = function(i), .results = {}, .searches = {}};
      // One result for a key, as in a database.
      for (int rows = 0; rows < 3; ++rows) {
        if (number(0, 2) > 0) one.results.push_back(result(rows));
      }
      for (int n = number(0, 2); n > 0; --n) one.searches.push_back(search());
      content.functions.push_back(std::move(one));
    }
    return content;
  }

  static function_identity function(int index) {
    return {.name = "f" + std::to_string(index) + ".autotune",
            .version = index,
            .key_fields = {{"rows", value_type::int32},
                           {"big", value_type::uint64, true},
                           {"label", value_type::string}},
            .value_fields = {{"wgs", value_type::uint32},
                             {"alpha", value_type::float64},
                             {"exact", value_type::boolean, true}}};
  }

 private:
  int number(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(number(0, static_cast<int>(choices.size()) - 1))];
  }

  std::string text() {
    return one_of<std::string>({"", "plain", "\xff\xfe", std::string("a\0b", 3), "\"quoted\"\n",
                                "\xc3\xa9", "\xed\xa0\x80"});
  }
  double time() { return one_of<double>({1, 1500, 0.1, 12265098.571777344, 1e300, 5e-324}); }

  std::vector<named_value> tuning() {
    using limits = std::numeric_limits<double>;
    const std::vector<double> alphas{0.1, -0.0, 1e308, limits::infinity(), limits::quiet_NaN()};
    return {{"wgs", one_of<std::uint64_t>({1, 64, 4294967295U})},
            {"alpha", one_of(alphas)},
            {"exact", one_of<value>({value(true), value(false), value()})}};
  }

  column_values device() {
    return {{"device_name", one_of<std::string>({"GPU One", "GPU Two"})},
            {"device_platform", std::string("Platform")},
            {"device_version", one_of<std::string>({"1.0", "\xff"})},
            {"device_architecture", one_of<std::string>({"", "sm_90"})},
            {"device_work_group", one_of<column_value>({std::int64_t{0}, std::int64_t{1024}})},
            {"device_clock_mhz", one_of<column_value>({std::int64_t{0}, std::int64_t{1785}})}};
  }
  std::string date() { return "2024-01-0" + std::to_string(number(1, 3)) + "T00:00:00Z"; }

  std::vector<named_value> arguments(int rows) {
    return {{"rows", std::int64_t{rows}},
            {"big", one_of<value>({value(), value(std::uint64_t{18446744073709551615U})})},
            {"label", text()}};
  }

  result_content result(int rows) {
    result_content made{.arguments = arguments(rows), .values = tuning(), .columns = device()};
    made.columns["tuned_at"] = date();
    if (number(0, 2) > 0) made.columns["score_ns"] = time();
    return made;
  }

  trial_content trial() {
    trial_content made{.configuration = tuning(), .columns = {}};
    const bool measured = number(0, 1) == 1;
    made.columns = {{"outcome", std::string(measured ? "measured" : "over a device limit")},
                    {"message", measured ? std::string() : text()},
                    {"samples_ns", std::string(measured ? "[1.5,12265098.571777344]" : "[]")},
                    {"preparation_ns", std::int64_t{number(0, 2'000'000'000)}}};
    if (measured) made.columns["score_ns"] = time();
    if (number(0, 1) == 1) {
      made.columns["made_at"] = date();
      made.columns["programs"] = one_of<std::string>({"0123abcd", "0123abcd ? 4567ef"});
      made.columns["remembered"] = std::int64_t{number(0, 1)};
      made.columns["metrics"] = one_of<std::string>(
          {R"([["gflops",812.5,"GFLOP/s"],["registers",64]])", R"([["energy",null,"J"]])"});
    }
    return made;
  }

  search_content search() {
    search_content made;
    const auto key = arguments(number(0, 2));
    made.columns = search_columns(key, result_content{.columns = device()}.device());
    made.columns["started_at"] = date();
    if (number(0, 1) == 1) made.columns["finished_at"] = date();
    made.columns["result"] = std::string("found");
    if (number(0, 1) == 1) {
      made.columns["space"] = std::string("0123456789abcdef");
      made.columns["compiler"] = text();
      made.columns["library_version"] = std::string("0.1.0");
      made.columns["stage"] = std::int64_t{number(0, 2)};
    }
    for (int n = number(0, 3); n > 0; --n) made.trials.push_back(trial());
    return made;
  }

  std::mt19937 random_;
};

}  // namespace tune::testing
