// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/selection.hpp"

#include <doctest/doctest.h>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace selection_test {

using tune::field_description;
using tune::function_content;
using tune::function_identity;
using tune::named_value;
using tune::search_content;
using tune::value;
using tune::value_type;
using tune::cli::device_choice;
using tune::cli::nothing_found;
using tune::cli::parse_key;
using tune::cli::search_choice;
using tune::cli::split_function;
using tune::cli::usage_error;
using tune::testing::sample_device;
using tune::testing::sample_key;

const function_identity every_kind{.name = "f",
                                   .version = 0,
                                   .key_fields = {{"on", value_type::boolean},
                                                  {"n", value_type::int8},
                                                  {"u", value_type::uint64},
                                                  {"x", value_type::float32},
                                                  {"s", value_type::string},
                                                  {"maybe", value_type::int32, true}},
                                   .value_fields = {}};

TEST_CASE("a function's name ends where a version begins, and only there") {
  CHECK(split_function("a.b__3") == std::pair(std::string("a.b"), std::optional(3)));
  CHECK(split_function("a__b__12").second == 12);
  CHECK(split_function("a").second == std::nullopt);
  for (const char* text : {"a__", "a__x", "a__-1", "a__1x", "__1"}) {
    CAPTURE(text);
    CHECK(split_function(text) == std::pair(std::string(text), std::optional<int>()));
  }
}

TEST_CASE("applications choose among the best kind of devices, each through its first platform") {
  const auto make = [](const char* name, const char* platform, tune::device_kind kind) {
    tune::testing::fake_device_options options;
    options.identity = {name, platform, "1.0"};
    options.kind = kind;
    return tune::testing::fake_device(options).device();
  };
  const std::vector<tune::device> all{make("GPU One", "CUDA", tune::device_kind::gpu),
                                      make("GPU One", "CUDA", tune::device_kind::gpu),
                                      make("GPU One", "OpenCL", tune::device_kind::gpu),
                                      make("GPU Two", "OpenCL", tune::device_kind::gpu),
                                      make("a processor", "OpenCL", tune::device_kind::cpu)};
  const std::vector<tune::device> usual = tune::cli::usual_devices(all);
  CHECK(usual == std::vector<tune::device>{all[0], all[1], all[3]});
  CHECK(tune::cli::usual_devices({all[4]}) == std::vector<tune::device>{all[4]});
  CHECK(tune::cli::usual_devices({}).empty());
}

TEST_CASE("a key is read by the types of its fields, in any order") {
  const auto key = parse_key(
      every_kind, {"s=a=b", "maybe=none", "x=0.5", "n=-3", "u=18446744073709551615", "on=true"});
  CHECK(key == std::vector<named_value>{{"on", true},
                                        {"n", std::int64_t{-3}},
                                        {"u", std::uint64_t{18446744073709551615U}},
                                        {"x", 0.5},
                                        {"s", std::string("a=b")},
                                        {"maybe", value()}});
}

TEST_CASE("a key that misses a field, has one too many or of another type lists what there is") {
  const std::vector<std::string> good{"on=true", "n=1", "u=1", "x=1", "s=", "maybe=2"};
  const auto check_refused = [&](std::size_t index, const std::string& instead,
                                 const std::string& reason) {
    CAPTURE(instead);
    std::vector<std::string> texts = good;
    texts[index] = instead;
    CHECK_THROWS_WITH_AS(parse_key(every_kind, texts), doctest::Contains(reason.c_str()),
                         usage_error);
  };
  check_refused(0, "on=yes", "on (bool");
  check_refused(1, "n=1x", "of another type");
  check_refused(1, "m=1", "missing");
  check_refused(2, "u=-1", "of another type");
  check_refused(3, "x=", "of another type");
  check_refused(0, "on", "no NAME=VALUE");
  auto more = good;
  more.push_back("extra=1");
  CHECK_THROWS_WITH_AS(parse_key(every_kind, more), doctest::Contains("no 'extra'"), usage_error);
}

TEST_CASE("a device fits what is said of it, and nothing else can be said without its name") {
  const tune::device_identity device = tune::testing::sample_device();
  CHECK(device_choice{}.fits(device));
  CHECK(device_choice{.name = "GPU One", .driver = "535.104"}.fits(device));
  CHECK_FALSE(device_choice{.name = "GPU"}.fits(device));
  CHECK_FALSE(device_choice{.name = "GPU One", .platform = "Other"}.fits(device));
  CHECK(device_choice{.name = "X", .platform = "P", .driver = "1"}.identity() ==
        tune::device_identity{"X", "P", "1"});
  CHECK_THROWS_AS(device_choice{.platform = "P"}.identity(), usage_error);
}

TEST_CASE("a function without a version is the one with the highest") {
  const tune::testing::temporary_folder folder;
  for (const int version : {1, 10, 2}) {
    tune::tuning_database(folder.file("db"))
        .store(tune::testing::sample_function("f", version), tune::testing::sample_key(),
               tune::testing::sample_tuning(1), 1);
  }
  tune::database_reader reader(folder.file("db"));
  CHECK(tune::cli::find_function(reader, "f").version == 10);
  CHECK(tune::cli::find_function(reader, "f__2").version == 2);
  CHECK_FALSE(tune::cli::find_function_if(reader, "f__3"));
  CHECK_THROWS_AS(tune::cli::find_function(reader, "g"), tune::cli::nothing_found);
}

TEST_CASE("fields of an unknown function have the types that their texts show, or are given") {
  const auto fields = tune::cli::inferred_key_fields(
      {"n=64", "big=4294967296", "x=0.5", "on=false", "type=float32", "s=fast", "given=1"},
      tune::cli::parse_types({"given=uint8?"}));
  CHECK(fields == std::vector<field_description>{{"n", value_type::int32},
                                                 {"big", value_type::int64},
                                                 {"x", value_type::float64},
                                                 {"on", value_type::boolean},
                                                 {"type", value_type::element_type},
                                                 {"s", value_type::string},
                                                 {"given", value_type::uint8, true}});
  CHECK_THROWS_AS(tune::cli::parse_types({"n=integer"}), usage_error);
  CHECK_THROWS_AS(tune::cli::parse_types({"n"}), usage_error);
}

search_content search(std::int64_t id, const std::string& started_at, std::int64_t rows = 64,
                      const tune::device_identity& device = sample_device()) {
  search_content made{
      .columns = search_columns(sample_key(rows).arguments, device), .trials = {}, .id = id};
  made.columns["started_at"] = started_at;
  return made;
}

const function_content content{
    .function = tune::testing::sample_function(),
    .results = {},
    .searches = {search(1, "2024-03-01T00:00:00Z"), search(2, "2024-01-01T00:00:00Z"),
                 search(3, "2024-01-01T00:00:00Z", 65),
                 search(4, "2024-02-01T00:00:00Z", 64, {"GPU Two", "Some Platform", "1"})}};

std::vector<std::int64_t> numbers(const search_choice& choice) {
  std::vector<std::int64_t> found;
  for (const search_content& one : choice.choose(content)) found.push_back(one.id);
  return found;
}

TEST_CASE("all searches fit an empty choice, the latest last, then by number") {
  CHECK(numbers({}) == std::vector<std::int64_t>{2, 3, 4, 1});
}

TEST_CASE("a number, a key in any order and a device choose") {
  CHECK(numbers({.number = 4}) == std::vector<std::int64_t>{4});
  CHECK(numbers({.arguments = {"type=float32", "rows=65"}}) == std::vector<std::int64_t>{3});
  CHECK(numbers({.device = {.name = "GPU Two"}}) == std::vector<std::int64_t>{4});
  CHECK(numbers({.arguments = {"rows=64", "type=float32"}, .device = {.name = "GPU One"}}) ==
        std::vector<std::int64_t>{2, 1});
}

TEST_CASE("a choice that nothing fits is not found, and half a key is a mistake") {
  CHECK_THROWS_AS(search_choice{.number = 9}.choose(content), nothing_found);
  CHECK_THROWS_AS((search_choice{.number = 3, .device = {.name = "GPU Two"}}.choose(content)),
                  nothing_found);
  CHECK_THROWS_AS((search_choice{.arguments = {"rows=64"}}.choose(content)), usage_error);
}

}  // namespace selection_test
