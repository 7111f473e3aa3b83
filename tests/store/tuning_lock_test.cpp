// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/tuning_lock.hpp"

#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "tests/store/samples.hpp"

namespace tuning_lock_test {

using tune::locked_function;
using tune::locked_result;
using tune::tuning_lock;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;

locked_result result(std::int64_t rows, std::int64_t wgs,
                     tune::device_identity device = sample_device()) {
  return {.arguments = sample_key(rows).arguments,
          .values = sample_tuning(wgs),
          .device = std::move(device),
          .score_ns = 1500,
          .tuned_at = "2024-01-31T12:00:00Z",
          .programs = {"00ff"},
          .library_version = "1.2.3"};
}

tuning_lock sample_lock() {
  return tuning_lock({{sample_function("b"), {result(64, 4), result(32, 2)}},
                      {sample_function("a", 3), {result(64, 8)}}});
}

std::string absence(const tune::function_identity& function, const tune::record_key& key) {
  const tuning_lock lock = sample_lock();
  REQUIRE(lock.find(function, key) == nullptr);
  return lock.absence(function, key);
}

TEST_CASE("a lock written and read again is the same, whatever the order of its results") {
  const tuning_lock lock = sample_lock();
  const std::string text = lock.to_json();
  CHECK(tuning_lock::from_json(text).to_json() == text);
  CHECK(tuning_lock({{sample_function("a", 3), {result(64, 8)}},
                     {sample_function("b"), {result(32, 2), result(64, 4)}}})
            .to_json() == text);
  CHECK(tuning_lock::from_json(tuning_lock().to_json()).size() == 0);
}

TEST_CASE("a lock finds a result by its function, version, key and whole device") {
  const tuning_lock lock = tuning_lock::from_json(sample_lock().to_json());
  CHECK(lock.size() == 3);
  const locked_result* found = lock.find(sample_function("b"), sample_key(32));
  REQUIRE(found != nullptr);
  CHECK(found->values == sample_tuning(2));
  CHECK(found->score_ns == 1500);
  CHECK(found->tuned_at == "2024-01-31T12:00:00Z");
  CHECK(found->programs == std::vector<std::string>{"00ff"});
  CHECK(found->library_version == "1.2.3");
}

TEST_CASE("what a lock does not have is said in words") {
  CHECK(absence(sample_function("c"), sample_key()) == "it has nothing of c");
  CHECK(absence(sample_function("a", 2), sample_key()) == "it has version 3 of a, not version 2");
  CHECK(absence(sample_function("b"), sample_key(65)) == "it has this function, but not this key");
  auto other = sample_device();
  other.driver_version = "535.105";
  CHECK(absence(sample_function("b"), sample_key(64, other)) ==
        "it has this key for device 'GPU One', which differs in device_version");
  auto changed = sample_function("b");
  changed.value_fields.push_back({"unroll", tune::value_type::int32});
  CHECK(absence(changed, sample_key()) ==
        "the key or the tuning of b version 0 has other fields than when it was locked");
}

TEST_CASE("two results for one key and device are refused") {
  CHECK_THROWS_WITH_AS(tuning_lock({{sample_function("b"), {result(64, 4), result(64, 2)}}}),
                       doctest::Contains("two results of b version 0 for rows=64"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(tuning_lock({{sample_function("b"), {}}, {sample_function("b"), {}}}),
                       doctest::Contains("b version 0 twice"), tune::argument_error);
}

TEST_CASE("a document that is no lock is refused, and the fault is named") {
  using nlohmann::json;
  const json good = tune::detail::parse_json<json>(sample_lock().to_json());
  const auto refused = [](const json& document, const char* reason) {
    CHECK_THROWS_WITH_AS(tuning_lock::from_json(document.dump()), doctest::Contains(reason),
                         tune::argument_error);
  };
  CHECK_THROWS_AS(tuning_lock::from_json("{"), tune::argument_error);
  CHECK_THROWS_AS(tuning_lock::from_json(""), tune::argument_error);
  refused(json::array(), "format");
  json other = good;
  other["format"] = "libtune tuning results";
  refused(other, "'format' is another");
  other = good;
  other["format_version"] = 2;
  refused(other, "'format_version' is not 1");
  other = good;
  other["functions"][0]["results"][0]["values"].erase("wgs");
  refused(other, "no 'wgs'");
  other = good;
  other["functions"][0]["results"][0].erase("device");
  refused(other, "no 'device'");
  other = good;
  other["functions"][0]["name"] = "no name";
  refused(other, "no name");
}

}  // namespace tuning_lock_test
