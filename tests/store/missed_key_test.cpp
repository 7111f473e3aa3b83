// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/missed_key.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/identity_column.hpp"
#include "tests/store/random_content.hpp"

namespace missed_key_test {

using tune::from_missed_line;
using tune::missed_identity;
using tune::missed_key;
using tune::to_missed_line;

const missed_key sample{.function = {"fill",
                                     2,
                                     {{"size", tune::value_type::int64}},
                                     {{"wgs", tune::value_type::int32}}},
                        .key = {{{"size", std::int64_t{64}}}, {"GPU One", "A Platform", "535.1"}},
                        .missed_at = "2025-01-02T03:04:05Z",
                        .program = "/opt/pipeline"};

void check_same(const missed_key& a, const missed_key& b) {
  CHECK(a.function == b.function);
  CHECK(canonical_text(a.key.arguments) == canonical_text(b.key.arguments));
  CHECK(a.key.device == b.key.device);
  CHECK(a.missed_at == b.missed_at);
  CHECK(a.program == b.program);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

TEST_CASE("a line is one line of JSON, and read back is what was missed") {
  const std::string line = to_missed_line(sample);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find(R"({"libtune_missed":1,"name":"fill","version":2,)") == 0);
  CHECK(line.find(R"("arguments":{"size":64},"device":{"device_api":"")") != std::string::npos);
  check_same(from_missed_line(line), sample);
}

TEST_CASE("so it is for every key that a database can have") {
  std::set<std::string> identities;
  std::set<std::string> keys;
  for (unsigned seed = 0; seed < 60; ++seed) {
    for (const auto& function : tune::testing::random_content(seed).next().functions) {
      for (const auto& result : function.results) {
        const missed_key missed{.function = function.function,
                                .key = {result.arguments, result.device()},
                                .missed_at = "2025-01-02T03:04:05Z",
                                .program = "/a \"b\"\xff"};
        const std::string line = to_missed_line(missed);
        CAPTURE(line);
        check_same(from_missed_line(line), missed);
        identities.emplace(missed_identity(line));
        keys.insert(table_name(missed.function) + canonical_text(missed.key.arguments) +
                    canonical_text(missed.key.device));
      }
    }
  }
  CHECK(keys.size() > 20);
  CHECK(identities.size() == keys.size());
}

TEST_CASE("every number comes back exactly, and with its type") {
  const std::vector<tune::field_description> fields{{"a", tune::value_type::float64},
                                                    {"b", tune::value_type::uint64},
                                                    {"c", tune::value_type::int64},
                                                    {"d", tune::value_type::boolean, true}};
  for (const double real : {0.1, 5.0, 1e300, 5e-324, std::numeric_limits<double>::infinity()}) {
    missed_key missed = sample;
    missed.function.key_fields = fields;
    missed.key.arguments = {{"a", real},
                            {"b", std::numeric_limits<std::uint64_t>::max()},
                            {"c", std::numeric_limits<std::int64_t>::min()},
                            {"d", {}}};
    check_same(from_missed_line(to_missed_line(missed)), missed);
  }
}

TEST_CASE("lines of one key are the same up to when and by whom it was missed") {
  missed_key later = sample;
  later.missed_at = "2030-01-01T00:00:00Z";
  later.program = "/opt/other";
  CHECK(missed_identity(to_missed_line(later)) == missed_identity(to_missed_line(sample)));
  missed_key other = sample;
  other.key.arguments[0].value = std::int64_t{65};
  CHECK(missed_identity(to_missed_line(other)) != missed_identity(to_missed_line(sample)));
  CHECK(missed_identity("nonsense").empty());
}

TEST_CASE("a field that is called as a member of the line does not confuse") {
  missed_key missed = sample;
  missed.function.key_fields = {{"a", tune::value_type::int64},
                                {"missed_at", tune::value_type::int64}};
  missed.key.arguments = {{"a", std::int64_t{1}}, {"missed_at", std::int64_t{1}}};
  missed_key other = missed;
  other.key.arguments[1].value = std::int64_t{2};
  CHECK(missed_identity(to_missed_line(other)) != missed_identity(to_missed_line(missed)));
}

TEST_CASE("whatever is not written so is refused") {
  const std::string line = to_missed_line(sample);
  for (const std::string& bad :
       {std::string(), std::string("{}"), line.substr(0, line.size() - 1), line + " ",
        replaced(line, "\"libtune_missed\":1", "\"libtune_missed\":2"),
        replaced(line, "\"version\":2", "\"version\":-2"), replaced(line, "\"fill\"", "\"fi ll\""),
        replaced(line, "\"size\":64", "\"size\":\"64\""),
        replaced(line, "\"size\":64", "\"size\":64.0"),
        replaced(line, "\"size\":64", "\"size\":64,\"more\":1"),
        replaced(line, "\"device_api\":\"\"", "\"device_api\":7"),
        replaced(line, "\"device_api\":\"\",", ""),
        replaced(line, "\"program\"", "\"extra\":1,\"program\""), std::string(100'000, '['),
        std::string("{\"a\":") + std::string(100'000, '[')}) {
    CAPTURE(bad.substr(0, 200));
    CHECK_THROWS_AS(from_missed_line(bad), tune::argument_error);
  }
}

}  // namespace missed_key_test
