// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning database that somebody has changed is read, checked and written to. Nothing but the
// library's own errors may come of it, and a result that is found is the one that was stored.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/maintenance/database_check.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/fuzz/edits.hpp"

namespace {

using tune::value_type;

const tune::function_identity function{"fuzz.autotune",
                                       1,
                                       {{"rows", value_type::int32}, {"name", value_type::string}},
                                       {{"wgs", value_type::int32}, {"fast", value_type::boolean}}};
const tune::record_key key{{{"rows", std::int64_t{64}}, {"name", std::string("a")}},
                           {"device", "platform", "1.0"}};
const std::vector<tune::named_value> stored{{"wgs", std::int64_t{256}}, {"fast", true}};

const tune::testing::temporary_directory& folder() {
  static const tune::testing::temporary_directory made;
  return made;
}

std::vector<std::byte> make_valid() {
  const auto path = folder() / "valid.db";
  {
    tune::tuning_database database(path.string());
    database.store(function, key, stored, 1234.5);
    tune::record_key other = key;
    other.device.name = "another device";
    database.store(function, other, stored, std::nullopt);
    const auto search = database.begin_search(function, key);
    database.add_trial(search, {.configuration = stored,
                                .outcome = "measured",
                                .samples_ns = {1.0, 2.0},
                                .score_ns = 1.5});
    database.finish_search(search, "found");
  }
  return fuzz::read_file(path);
}

void use(const std::string& path) {
  {
    tune::tuning_database database(path);
    for (const auto mode : {tune::match_mode::exact, tune::match_mode::nearest}) {
      const auto found = database.find(function, key, mode);
      if (found && found->values != stored) std::abort();
    }
    for (const tune::stored_trial& trial : database.trials(function, key)) {
      if (trial.configuration != stored) std::abort();
    }
    database.store(function, key, stored, 1.0);
  }
  tune::check_database(path);
  tune::database_reader(path).read_all();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::byte> valid = make_valid();
  ::setenv("LIBTUNE_LOG", "off", 1);
  const auto home = folder() / "work";
  std::filesystem::remove_all(home);
  std::filesystem::create_directory(home);
  std::filesystem::permissions(home, std::filesystem::perms::owner_all);
  const auto path = home / "tuning.db";
  fuzz::write_file(path, fuzz::edited(valid, {data, size}));
  try {
    use(path.string());
  } catch (const tune::error&) {  // NOLINT(bugprone-empty-catch): it is what may come of it
  }
  return 0;
}
