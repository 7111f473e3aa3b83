// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/selection.hpp"

#include <doctest/doctest.h>
#include <limits>

#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tunedb/key_list.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace selection_test {

using namespace tune::testing;
using namespace tune::cli;
using namespace tune;

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
    fake_device_options options;
    options.identity = {name, platform, "1.0"};
    options.kind = kind;
    return fake_device(options).device();
  };
  const std::vector<tune::device> all{make("GPU One", "CUDA", tune::device_kind::gpu),
                                      make("GPU One", "CUDA", tune::device_kind::gpu),
                                      make("GPU One", "OpenCL", tune::device_kind::gpu),
                                      make("GPU Two", "OpenCL", tune::device_kind::gpu),
                                      make("a processor", "OpenCL", tune::device_kind::cpu)};
  const std::vector<tune::device> usual = usual_devices(all);
  CHECK(usual == std::vector<tune::device>{all[0], all[1], all[3]});
  CHECK(usual_devices({all[4]}) == std::vector<tune::device>{all[4]});
  CHECK(usual_devices({}).empty());
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
  const tune::device_identity device = sample_device();
  CHECK(device_choice{}.fits(device));
  CHECK(device_choice{.name = "GPU One", .driver = "535.104"}.fits(device));
  CHECK_FALSE(device_choice{.name = "GPU"}.fits(device));
  CHECK_FALSE(device_choice{.name = "GPU One", .platform = "Other"}.fits(device));
  CHECK(device_choice{.name = "X", .platform = "P", .driver = "1"}.identity() ==
        tune::device_identity{"X", "P", "1"});
  CHECK_THROWS_AS(device_choice{.platform = "P"}.identity(), usage_error);
}

TEST_CASE("a function without a version is the one with the highest") {
  const temporary_folder folder;
  for (const int version : {1, 10, 2}) {
    tune::tuning_database(folder.file("db"))
        .store(sample_function("f", version), sample_key(), sample_tuning(1), 1);
  }
  tune::database_reader reader(folder.file("db"));
  CHECK(find_function(reader, "f").version == 10);
  CHECK(find_function(reader, "f__2").version == 2);
  CHECK_FALSE(find_function_if(reader, "f__3"));
  CHECK_THROWS_AS(find_function(reader, "g"), nothing_found);
}

TEST_CASE("fields of an unknown function have the types that their texts show, or are given") {
  const auto fields = inferred_key_fields(
      {"n=64", "big=4294967296", "x=0.5", "on=false", "type=float32", "s=fast", "given=1"},
      parse_types({"given=uint8?"}));
  CHECK(fields == std::vector<field_description>{{"n", value_type::int32},
                                                 {"big", value_type::int64},
                                                 {"x", value_type::float64},
                                                 {"on", value_type::boolean},
                                                 {"type", value_type::element_type},
                                                 {"s", value_type::string},
                                                 {"given", value_type::uint8, true}});
  CHECK_THROWS_AS(parse_types({"n=integer"}), usage_error);
  CHECK_THROWS_AS(parse_types({"n"}), usage_error);
}

search_content search(const std::string& started_at, std::int64_t rows = 64,
                      const tune::device_identity& device = sample_device()) {
  search_content made{.columns = search_columns(sample_key(rows).arguments, device), .trials = {}};
  made.columns["started_at"] = started_at;
  return made;
}

/// A database with four searches, whose numbers are in the order of this list.
struct searched_database {
  searched_database() {
    for (const search_content& one :
         {search("2024-03-01T00:00:00Z"), search("2024-01-01T00:00:00Z"),
          search("2024-01-01T00:00:00Z", 65),
          search("2024-02-01T00:00:00Z", 64, {"GPU Two", "Some Platform", "1"})}) {
      tune::merge_content(path,
                          {{{.function = sample_function(), .results = {}, .searches = {one}}}});
    }
  }

  std::vector<std::int64_t> numbers(const search_choice& choice) {
    return choice.find(database, sample_function());
  }

  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tune::database_reader database{path};
};

TEST_CASE_FIXTURE(searched_database,
                  "all searches fit an empty choice, the latest last, then by number") {
  CHECK(numbers({}) == std::vector<std::int64_t>{2, 3, 4, 1});
  CHECK(search_choice{}.latest(database, sample_function()).id == 1);
}

TEST_CASE_FIXTURE(searched_database, "a number, a key in any order and a device choose") {
  CHECK(numbers({.number = 4}) == std::vector<std::int64_t>{4});
  CHECK(numbers({.arguments = {"type=float32", "rows=65"}}) == std::vector<std::int64_t>{3});
  CHECK(numbers({.device = {.name = "GPU Two"}}) == std::vector<std::int64_t>{4});
  CHECK(numbers({.arguments = {"rows=64", "type=float32"}, .device = {.name = "GPU One"}}) ==
        std::vector<std::int64_t>{2, 1});
}

TEST_CASE_FIXTURE(searched_database,
                  "a choice that nothing fits is not found, and half a key is a mistake") {
  CHECK_THROWS_AS(numbers({.number = 9}), nothing_found);
  CHECK_THROWS_AS(numbers({.number = 3, .device = {.name = "GPU Two"}}), nothing_found);
  CHECK_THROWS_AS(numbers({.arguments = {"rows=64"}}), usage_error);
}

const std::vector<tune::function_identity> functions{
    {.name = "fill",
     .version = 0,
     .key_fields = {{"old", value_type::int32}},
     .value_fields = {{"wgs", value_type::int32}}},
    {.name = "fill",
     .version = 2,
     .key_fields = {{"rows", value_type::int16},
                    {"type", value_type::element_type},
                    {"scale", value_type::float64},
                    {"flip", value_type::boolean},
                    {"size", value_type::uint64},
                    {"label", value_type::string, true}},
     .value_fields = {{"wgs", value_type::int32}}}};

const char* const good =
    R"({"function":"fill","key":{"rows":-7,"type":"float32","scale":2,"flip":true,)"
    R"("size":18446744073709551615,"label":null}})";

std::vector<tune::pretuning_item> parse(const std::string& text) {
  return parse_key_list(text, functions, "keys.json");
}

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const usage_error& mistake) {
    return mistake.what();
  }
  return "it was taken";
}

TEST_CASE("a document that nests deeply is refused") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& text :
       {deep, std::string(R"({"function":"fill","key":{"rows":)") + deep + "}}",
        std::string(good) + '\n' + deep}) {
    CHECK(refusal(text) == "keys.json: a document in JSON nests deeper than 100 levels");
  }
}

/// The good entry with something else in the place of one of its parts.
std::string changed(const std::string& part, const std::string& with) {
  std::string text = good;
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), with);
}

bool says(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a key has the types and the order of the application's fields") {
  const auto items = parse(std::string("[") + good + "]");
  REQUIRE(items.size() == 1);
  CHECK(items[0].function == functions[1]);
  CHECK_FALSE(items[0].device);
  CHECK(items[0].key ==
        std::vector<tune::named_value>{{"rows", std::int64_t{-7}},
                                       {"type", std::string("float32")},
                                       {"scale", 2.0},
                                       {"flip", true},
                                       {"size", std::numeric_limits<std::uint64_t>::max()},
                                       {"label", {}}});
}

TEST_CASE("keys may be a list, lines, or what tunedb missed prints; each counts once") {
  const std::string other = changed("-7", "8");
  CHECK(parse(std::string("[") + good + ",\n" + other + "," + good + "]").size() == 2);
  CHECK(parse(good + std::string("\n\n") + other + "\n").size() == 2);
  CHECK(parse(good).size() == 1);
  CHECK(parse("[]").empty());
  CHECK(parse("").empty());
  const auto missed =
      parse(R"({"path":"x","keys":[{"function":"fill","version":0,"arguments":{"old":3},)"
            R"("device":{"name":"a"},"missed_at":"now","program":"p"}]})");
  REQUIRE(missed.size() == 1);
  CHECK(missed[0].function.version == 0);
}

TEST_CASE("what is wrong with an entry is said with its place") {
  CHECK(says(refusal("[1]"), "keys.json: entry 1: it is no JSON object"));
  CHECK(says(refusal(std::string("[") + good + R"(,{"function":"filter","key":{}}])"),
             "entry 2: the application has no function 'filter'; it has fill__0, fill__2"));
  CHECK(says(refusal(R"([{"function":"fill","version":1,"key":{}}])"), "no function 'fill__1'"));
  CHECK(says(refusal(R"([{"key":{}}])"), "does not name a function"));
  CHECK(says(refusal(R"([{"function":"fill","keys":{}}])"), "it has 'keys'"));
  CHECK(says(refusal(changed(R"("rows":-7,)", "")), "the field 'rows' is missing; the key takes"));
  CHECK(says(refusal(changed(R"("rows")", R"("colour":1,"rows")")), "there is no field 'colour'"));
  CHECK(
      says(refusal("{nonsense"), "keys.json: neither a list of keys in JSON nor one on each line"));
}

TEST_CASE("a value of another type is refused by its field's name") {
  CHECK(says(refusal(changed("-7", "7.0")), "the field 'rows' is int16, and 7.0 is none"));
  CHECK(says(refusal(changed("-7", "40000")), "the field 'rows'"));
  CHECK(says(refusal(changed("-7", R"("7")")), "the field 'rows' is int16"));
  CHECK(says(refusal(changed("18446744073709551615", "-1")), "the field 'size' is uint64"));
  CHECK(says(refusal(changed("true", "1")), "the field 'flip' is bool"));
  CHECK(says(refusal(changed("float32", "float33")), "the field 'type'"));
  CHECK(says(refusal(changed(R"("scale":2)", R"("scale":"wide")")), "the field 'scale'"));
  CHECK(says(refusal(changed("true", "null")), "the field 'flip' is bool"));
  CHECK(parse(changed(R"("scale":2)", R"("scale":"-inf")")).size() == 1);
}

TEST_CASE("missed keys of functions that the application does not have are counted") {
  const tune::device_identity device{"a", "b", "c"};
  tune::missed_key known{.function = functions[0], .key = {{{"old", std::int64_t{1}}}, device}};
  tune::missed_key changed = known;
  changed.function.value_fields.clear();
  const auto selected = select_missed({known, changed}, functions);
  CHECK(selected.of_other_programs == 1);
  REQUIRE(selected.items.size() == 1);
  CHECK(selected.items[0].device == device);
}

}  // namespace selection_test
