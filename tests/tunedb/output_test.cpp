// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/output.hpp"

#include <doctest/doctest.h>
#include <limits>

#include "tests/tunedb/captured_output.hpp"

namespace output_test {

using tune::named_value;
using tune::value;
using tune::cli::fields_text;
using tune::cli::json;
using tune::cli::time_text;
using tune::cli::to_json;
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

TEST_CASE("values, devices and missing numbers have their JSON") {
  CHECK(to_json(value()).is_null());
  CHECK(to_json(value(std::uint64_t{18446744073709551615U})) == 18446744073709551615U);
  CHECK(to_json(value(std::numeric_limits<double>::infinity())) == "inf");
  const std::vector<named_value> fields{{"b", 0.5}, {"a", std::string("x")}};
  CHECK(to_json(fields).dump() == R"({"b":0.5,"a":"x"})");
  CHECK(to_json(tune::device_identity{"GPU", "P", "1"})["version"] == "1");
  CHECK(to_json(std::optional<double>()).is_null());
  CHECK(to_json(std::optional<double>(std::numeric_limits<double>::quiet_NaN())).is_null());
  CHECK(to_json(std::optional<double>(2.5)) == 2.5);
}

TEST_CASE("for people there is a dash where nothing is") {
  CHECK(time_text(std::nullopt) == "-");
  CHECK(time_text(1500) == "1.50 us");
  CHECK(fields_text({}) == "-");
  CHECK(fields_text({{"a", std::int64_t{1}}, {"b", true}}) == "a=1, b=true");
  CHECK(tune::cli::to_text(tune::device_identity{"GPU", "P", "1"}) == "GPU (P, 1)");
}

}  // namespace output_test
