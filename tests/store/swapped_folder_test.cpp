// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Somebody who may change the folder above a database's swaps the database's folder for one of
// theirs while we open it. What we use is in the folder that was checked.
#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/store/tuning_database.hpp"
#include "tests/store/repetitions.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace swapped_folder_test {

namespace fs = std::filesystem;
using tune::tuning_database;
using tune::testing::repetitions;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

constexpr std::int64_t ours = 1;
constexpr std::int64_t theirs = 2;

void make_folder(const std::string& path, std::int64_t wgs) {
  tuning_database(path + "/tuning.db")
      .store(sample_function(), sample_key(), sample_tuning(wgs), 1);
}

/// A process that swaps two folders as fast as it can, until the end of its life.
class swapper {
 public:
  swapper(const std::string& one, const std::string& other) : process_(::fork()) {
    REQUIRE(process_ >= 0);
    if (process_ > 0) return;
    ::alarm(120);
    while (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) {
      for (int spin = 0; spin < 200; ++spin) ::getppid();
    }
    ::_exit(1);
  }
  ~swapper() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  swapper(const swapper&) = delete;
  swapper& operator=(const swapper&) = delete;

  bool works() const { return ::waitpid(process_, nullptr, WNOHANG) == 0; }

 private:
  ::pid_t process_;
};

TEST_CASE("a folder that is swapped while it is opened never gives a result of another's") {
  const temporary_folder place;
  make_folder(place.file("own"), ours);
  make_folder(place.file("bad"), theirs);
  fs::permissions(place.path() / "bad", fs::perms(0777));  // so that it may not be used
  int own_results = 0;
  int their_results = 0;
  int refusals = 0;
  {
    const swapper swapping(place.file("own"), place.file("bad"));
    for (int i = 0; i < repetitions(300, 20'000); ++i) {
      try {
        const auto found =
            tuning_database(place.file("own/tuning.db")).find(sample_function(), sample_key());
        if (found && found->values == sample_tuning(ours)) ++own_results;
        if (found && found->values == sample_tuning(theirs)) ++their_results;
      } catch (const tune::database_error&) {
        ++refusals;
      }
    }
    if (!swapping.works()) return;  // a file system that cannot exchange two names
  }
  MESSAGE(own_results << " results, " << refusals << " refusals");
  CHECK(own_results + refusals > 0);
  CHECK(their_results == 0);
}

TEST_CASE("a folder that was swapped while its database was open is checked anew") {
  const temporary_folder place;
  make_folder(place.file("own"), ours);
  make_folder(place.file("bad"), theirs);
  fs::permissions(place.path() / "bad", fs::perms(0777));
  tuning_database database(place.file("own/tuning.db"));
  REQUIRE(database.find(sample_function(), sample_key()));
  fs::rename(place.path() / "own", place.path() / "away");
  fs::rename(place.path() / "bad", place.path() / "own");
  CHECK_THROWS_WITH_AS(database.find(sample_function(), sample_key()),
                       doctest::Contains("written by everybody"), tune::database_error);
  CHECK_THROWS_AS(database.store(sample_function(), sample_key(3), sample_tuning(3), 1),
                  tune::database_error);
  fs::rename(place.path() / "own", place.path() / "bad");
  fs::rename(place.path() / "away", place.path() / "own");
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(ours));
}

}  // namespace swapped_folder_test
