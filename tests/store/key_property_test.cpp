// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Keys are typed and injective: two keys that differ in any way have results of their own.
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace key_property_test {

using tune::named_value;
using tune::value;
using tune::value_type;

// One field of each kind of column, some of them optional.
const std::vector<tune::field_description> fields{{"flag", value_type::boolean},
                                                  {"small", value_type::int8},
                                                  {"number", value_type::int64},
                                                  {"maybe", value_type::int64, true},
                                                  {"big", value_type::uint64},
                                                  {"single", value_type::float32},
                                                  {"real", value_type::float64},
                                                  {"maybe_real", value_type::float64, true},
                                                  {"text", value_type::string},
                                                  {"maybe_text", value_type::string, true},
                                                  {"layout", value_type::enumeration},
                                                  {"type", value_type::element_type},
                                                  {"maybe_flag", value_type::boolean, true}};

const tune::function_identity function{.name = "property.autotune",
                                       .version = 0,
                                       .key_fields = fields,
                                       .value_fields = {{"wgs", value_type::int32}}};

// Few values, all of which something could take for another: so that random keys are neighbours.
std::vector<value> candidates(const tune::field_description& field) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<value> found;
  switch (field.type) {
    case value_type::boolean: found = {true, false}; break;
    case value_type::int8: found = {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}}; break;
    case value_type::int64:
      found = {std::int64_t{0}, std::int64_t{1}, std::numeric_limits<std::int64_t>::max(),
               std::numeric_limits<std::int64_t>::min()};
      break;
    case value_type::uint64:
      found = {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63,
               std::numeric_limits<std::uint64_t>::max()};
      break;
    case value_type::float32: found = {0.0, -0.0, 1.0, double{0.1F}}; break;
    case value_type::float64:
      found = {0.0,
               -0.0,
               1.0,
               0.1,
               std::nextafter(0.1, 1.0),
               9007199254740992.0,
               infinity,
               -infinity,
               std::numeric_limits<double>::denorm_min()};
      break;
    case value_type::string:
      found = {std::string(),       std::string("1"),         std::string("1.0"),
               std::string("-0.0"), std::string("true"),      std::string("\0", 1),
               std::string("a"),    std::string("A"),         std::string("a "),
               std::string("\xff"), std::string("s1:a;1:b="), std::string("nan")};
      break;
    case value_type::enumeration: found = {std::string("row"), std::string("Row")}; break;
    default: found = {std::string("float32"), std::string("float64")}; break;
  }
  if (field.optional) found.emplace_back();
  return found;
}

template <class Random>
std::vector<named_value> random_key(Random& random) {
  std::vector<named_value> key;
  for (const auto& field : fields) {
    const std::vector<value> all = candidates(field);
    key.push_back({field.name, all[random() % all.size()]});
  }
  return key;
}

/// One other value in one field.
template <class Random>
std::vector<named_value> neighbour(std::vector<named_value> key, Random& random) {
  const std::size_t changed = random() % fields.size();
  const std::vector<value> all = candidates(fields[changed]);
  key[changed].value = all[random() % all.size()];
  return key;
}

bool same_bits(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }

bool same(const std::vector<named_value>& a, const std::vector<named_value>& b) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (a[i].value.index() != b[i].value.index()) return false;
    const double* x = std::get_if<double>(&a[i].value);
    if (x != nullptr ? !same_bits(*x, std::get<double>(b[i].value)) : a[i] != b[i]) return false;
  }
  return true;
}

struct property_database {
  tune::testing::temporary_folder folder;
  tune::tuning_database database{folder.file("tuning.db")};
};

TEST_CASE("every key finds what was stored for it, and no other key does") {
  property_database open;
  std::minstd_rand random(27);
  std::vector<std::vector<named_value>> keys;
  for (int i = 0; i < 60; ++i) {
    keys.push_back(i % 2 == 0 ? random_key(random) : neighbour(keys.back(), random));
  }
  std::map<std::string, std::int64_t> expected;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const tune::record_key key{keys[i], tune::testing::sample_device()};
    const bool known = open.database.find(function, key).has_value();
    CHECK(known == expected.contains(tune::canonical_text(keys[i])));
    open.database.store(function, key, tune::testing::sample_tuning(number), 1.0);
    expected[tune::canonical_text(keys[i])] = number;
  }
  for (const auto& key : keys) {
    const auto found = open.database.find(function, {key, tune::testing::sample_device()});
    REQUIRE(found);
    CHECK(found->values == tune::testing::sample_tuning(expected.at(tune::canonical_text(key))));
  }
}

TEST_CASE("keys have one canonical text if and only if they are the same") {
  std::minstd_rand random(28);
  std::size_t equal = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto a = random_key(random);
    const auto b = neighbour(a, random);
    const bool texts_equal = tune::canonical_text(a) == tune::canonical_text(b);
    REQUIRE(texts_equal == same(a, b));
    if (texts_equal) ++equal;
  }
  CHECK(equal > 1000);
  CHECK(equal < 19'000);
}

TEST_CASE("a value of any other type is refused, and NaN is no key") {
  property_database open;
  std::minstd_rand random(30);
  const std::vector<value> one{std::int64_t{1},  std::uint64_t{1}, 1.0, true,
                               std::string("1"), value()};
  for (std::size_t field = 0; field < fields.size(); ++field) {
    CAPTURE(fields[field].name);
    auto key = random_key(random);
    int accepted = 0;
    for (const value& v : one) {
      key[field].value = v;
      try {
        open.database.find(function, {key, tune::testing::sample_device()});
        ++accepted;
      } catch (const tune::argument_error&) {
      }
    }
    CHECK(accepted == (fields[field].optional ? 2 : 1));
    key[field].value = std::nan("");
    CHECK_THROWS_AS(open.database.find(function, {key, tune::testing::sample_device()}),
                    tune::argument_error);
  }
}

}  // namespace key_property_test
