// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/tuning_transaction.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/databases.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/samples.hpp"

namespace tuning_transaction_test {

using namespace std::chrono_literals;
using tune::tuning_mode;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;

struct bench {
  tune::testing::temporary_directory folder;
  std::shared_ptr<const tune::tuning_layers> layers =
      tune::open_layers((folder / "tuning.db").string(), {});

  tune::tuning_transaction keeper(tuning_mode mode,
                                  tune::tuning_transaction::check_function check = {}) const {
    return {layers, sample_function(), sample_key(), mode, std::move(check)};
  }
  std::vector<tune::named_value> stored() const {
    const auto found = layers->user()->find(sample_function(), sample_key());
    REQUIRE(found);
    return found->values;
  }
};

tune::tuned_values made(int wgs) { return {sample_tuning(wgs), tune::run_time(1000)}; }

TEST_CASE("the first result that is stored counts, for all who tune the same") {
  const bench here;
  auto quick = here.keeper(tuning_mode::tune);
  auto slow = here.keeper(tuning_mode::tune);
  CHECK_FALSE(quick.is_stored());
  CHECK(quick.store(made(64)) == sample_tuning(64));
  CHECK(slow.store(made(128)) == sample_tuning(64));
  CHECK(slow.is_stored());
  CHECK(here.stored() == sample_tuning(64));
}

TEST_CASE("who forces or resumes replaces the result, as does who finds none of the function's") {
  const bench here;
  here.keeper(tuning_mode::tune).store(made(1));
  CHECK(here.keeper(tuning_mode::force).store(made(2)) == sample_tuning(2));
  CHECK(here.stored() == sample_tuning(2));
  CHECK(here.keeper(tuning_mode::resume).store(made(3)) == sample_tuning(3));
  const auto never = [](const tune::record&) { return false; };
  CHECK(here.keeper(tuning_mode::tune, never).store(made(4)) == sample_tuning(4));
  CHECK(here.stored() == sample_tuning(4));
}

TEST_CASE("what cannot be stored is remembered by this process") {
  const tune::testing::temporary_directory folder;
  const auto layers = tune::open_layers(folder.path().string(), {});
  tune::tuning_transaction kept(layers, sample_function(), sample_key(), tuning_mode::tune);
  CHECK(kept.store(made(64)) == sample_tuning(64));
  CHECK_FALSE(kept.is_stored());
  const auto found = layers->find(sample_function(), sample_key());
  REQUIRE(found);
  CHECK(found->values == sample_tuning(64));
}

TEST_CASE("searches have names that tell functions, devices and keys apart") {
  const std::string name = search_name(sample_function(), sample_key());
  CHECK(name == search_name(sample_function(), sample_key()));
  CHECK(name != search_name(sample_function("other"), sample_key()));
  CHECK(name != search_name(sample_function(), sample_key(65)));
}

TEST_CASE("a result is stored once who keeps the database lets go, however long its writes wait") {
  const tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const tune::database_waits short_waits{.read = 1ms, .write = 5ms};
  const auto layers = std::make_shared<const tune::tuning_layers>(
      std::make_shared<tune::tuning_database>(path, short_waits),
      std::vector<std::shared_ptr<tune::tuning_database>>{});
  layers->user()->store(sample_function(), sample_key(), sample_tuning(1), 1.0);
  auto other = std::make_unique<tune::testing::lock_keeper>([&] {
    auto database = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE);
    database->exec("BEGIN EXCLUSIVE");
    return database;
  });
  tune::tuning_transaction impatient(layers, sample_function(), sample_key(), tuning_mode::force);
  impatient.store(made(2));
  CHECK_FALSE(impatient.is_stored());
  tune::tuning_transaction patient(layers, sample_function(), sample_key(), tuning_mode::force, {},
                                   60s);
  const std::jthread releases([&] {
    std::this_thread::sleep_for(100ms);
    other.reset();
  });
  patient.store(made(3));
  CHECK(patient.is_stored());
  CHECK(layers->user()->find(sample_function(), sample_key())->values == sample_tuning(3));
}

}  // namespace tuning_transaction_test
