// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The doors of this room (libtune/base/seal.hpp): nothing of a file is touched.
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <vector>

#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace seal_test {

using tune::seal_mode;
using tune::sealed_action;
using tune::testing::scoped_seal;

const tune::function_identity fill{
    "fill", 0, {{"size", tune::value_type::int64}}, {{"wgs", tune::value_type::int64}}};
const tune::record_key key{{{"size", std::int64_t{64}}}, {"GPU One", "A Platform", "1.0"}};
const std::vector<tune::named_value> tuning{{"wgs", std::int64_t{128}}};

struct place {
  tune::testing::temporary_directory folder;
  tune::tuning_database database{folder / "tuning.db"};
  tune::database_reader reader{folder / "tuning.db"};
  tune::binary_cache cache{folder / "programs"};
  tune::binary_key program;

  std::vector<std::function<void()>> database_doors() {
    return {[this] { database.find(fill, key); },
            [this] { database.find_nearest(fill, key, 4); },
            [this] { database.store(fill, key, tuning, 1000.0); },
            [this] { database.store_first(fill, key, tuning, 1000.0); },
            [this] { database.begin_search(fill, key); },
            [this] { database.trials(fill, key); },
            [this] { reader.functions(); }};
  }
  std::vector<std::function<void()>> cache_doors() {
    const auto bytes = [] { return std::vector<std::byte>(16); };
    return {[this] { cache.load(program); }, [this, bytes] { cache.save(program, bytes()); },
            [this, bytes] {
              const tune::binary_cache::entry entry{program.digest(), bytes()};
              cache.save_all(std::span(&entry, 1));
            },
            [this] { cache.remove(program); }};
  }
};

void check_throws(const std::vector<std::function<void()>>& doors, sealed_action action) {
  const scoped_seal sealed;
  std::size_t stopped = 0;
  for (const auto& pass : doors) {
    try {
      pass();
    } catch (const tune::seal_broken_error& failure) {
      stopped += failure.action() == action ? 1 : 0;
    }
  }
  CHECK(stopped == doors.size());
}

void check_counts(const std::vector<std::function<void()>>& doors, sealed_action action) {
  for (const auto& pass : doors) {
    const scoped_seal sealed(seal_mode::counts);
    CHECK_NOTHROW(pass());
    CHECK(tune::seal_report().count(action) >= 1);
    CHECK(tune::seal_report().count(action) == tune::seal_report().total());
  }
}

TEST_CASE("a sealed thread reads and writes no tuning database") {
  place p;
  check_throws(p.database_doors(), sealed_action::database);
  CHECK(std::filesystem::is_empty(p.folder.path()));
  check_counts(p.database_doors(), sealed_action::database);
  CHECK(p.database.find(fill, key)->values == tuning);
}

TEST_CASE("the error names the database and the function") {
  place p;
  const scoped_seal sealed;
  CHECK_THROWS_WITH_AS(p.database.find(fill, key),
                       doctest::Contains("look up 'fill' in the tuning database '"),
                       tune::seal_broken_error);
}

TEST_CASE("a sealed thread reads and writes no cached program") {
  place p;
  check_throws(p.cache_doors(), sealed_action::program_cache);
  CHECK(std::filesystem::is_empty(p.folder.path()));
  check_counts(p.cache_doors(), sealed_action::program_cache);
}

}  // namespace seal_test
