// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/key_list.hpp"

#include <doctest/doctest.h>
#include <limits>

#include "libtune/tunedb/selection.hpp"

namespace key_list_test {

using tune::value_type;
using tune::cli::parse_key_list;
using tune::cli::usage_error;

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
  const auto selected = tune::cli::select_missed({known, changed}, functions);
  CHECK(selected.of_other_programs == 1);
  REQUIRE(selected.items.size() == 1);
  CHECK(selected.items[0].device == device);
}

}  // namespace key_list_test
