// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_file.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace database_file_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tune::testing;
using namespace tune::detail;
using namespace tune;

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

TEST_CASE("a path that cannot name a file is refused") {
  CHECK_THROWS_AS(absolute_path(""), tune::argument_error);
  CHECK_THROWS_AS(absolute_path("/tmp/"), tune::argument_error);
  CHECK_THROWS_AS(absolute_path(std::string("/tmp/a\0b", 8)), tune::argument_error);
}

TEST_CASE("a server in the place of a file is refused, without its password") {
  for (const char* url :
       {"postgresql://user:s3cret@host/base", "postgres://user:s3cret@host/base"}) {
    try {
      tune::tuning_database opened(url);
      FAIL("it is taken for a file");
    } catch (const tune::argument_error& refusal) {
      CHECK(std::string(refusal.what()).find("LIBTUNE_SHARED_DB") != std::string::npos);
      CHECK(std::string(refusal.what()).find("s3cret") == std::string::npos);
    }
  }
}

TEST_CASE("a path becomes absolute, whatever SQLite would make of it") {
  for (const char* path : {"tuning.db", ":memory:", "file:tuning.db?mode=memory"}) {
    CHECK(absolute_path(path) == (fs::current_path() / path).string());
  }
  CHECK(absolute_path("/a/b.db") == "/a/b.db");
}

TEST_CASE("what exists stays as it is") {
  const temporary_folder folder;
  fs::create_directory(folder.path() / "shared");
  fs::permissions(folder.path() / "shared", fs::perms(0755));
  const std::string path = folder.file("shared/tuning.db");
  std::ofstream(path) << "text";
  fs::permissions(path, fs::perms(0640));
  create_private_file(path);
  CHECK(fs::file_size(path) == 4);
  CHECK(mode_of(path) == 0640);
  CHECK(mode_of(folder.path() / "shared") == 0755);
}

TEST_CASE("links on the way are followed, a link at the end is kept") {
  const temporary_folder folder;
  fs::create_directory(folder.path() / "real");
  fs::create_symlink(folder.path() / "real", folder.path() / "link");
  fs::create_symlink("nowhere", folder.path() / "real/tuning.db");
  const fs::path real = fs::canonical(folder.path() / "real");
  CHECK(without_links_on_the_way(folder.file("link/tuning.db")) == (real / "tuning.db").string());
  CHECK(is_there(folder.file("link/tuning.db")));
  CHECK_THROWS_AS(without_links_on_the_way(folder.file("none/tuning.db")), tune::database_error);
}

TEST_CASE("writers share the lock, and the one that moves the file has it alone") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  {
    const database_lock first(path, lock_kind::shared, 0ms);
    const database_lock second(path, lock_kind::shared, 0ms);
    CHECK(first);
    CHECK(second);
    CHECK_FALSE(database_lock(path, lock_kind::alone, 2ms));
  }
  const database_lock mover(path, lock_kind::alone, 0ms);
  CHECK(mover);
  CHECK_FALSE(database_lock(path, lock_kind::shared, 2ms));
}

TEST_CASE("the file of the lock is the owner's alone, empty, and stays") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  { const database_lock lock(path, lock_kind::shared, 0ms); }
  struct stat status {};
  REQUIRE(::stat((path + "-lock").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  CHECK(status.st_size == 0);
}

TEST_CASE("where no lock can be made nobody is kept out") {
  CHECK(database_lock("/proc/none/tuning.db", lock_kind::alone, 0ms));
  const temporary_folder folder;
  std::filesystem::create_symlink("elsewhere", folder.file("tuning.db-lock"));
  CHECK(database_lock(folder.file("tuning.db"), lock_kind::alone, 0ms));
  CHECK_FALSE(std::filesystem::exists(folder.file("elsewhere")));
}

constexpr long nfs = 0x6969;
constexpr long ext4 = 0xef53;

TEST_CASE("a database on this machine, or nobody knows where, is kept where its path says") {
  captured_errors errors;
  for (const std::optional<long> kind : {std::optional(ext4), std::optional<long>()}) {
    const database_place place = place_database("/home/somebody/tuning.db", kind);
    CHECK(place.path == "/home/somebody/tuning.db");
    CHECK(place.shared.empty());
  }
  CHECK(errors.text().empty());
}

TEST_CASE("one on the network is read beneath one of this machine, and says so once") {
  captured_errors errors;
  const auto folder = node_local_folder();
  for (int again = 0; again < 2; ++again) {
    const database_place place = place_database("/net/somebody/tuning.db", nfs);
    if (folder) {
      CHECK(std::filesystem::path(place.path).parent_path() == *folder);
      CHECK(place.shared == "/net/somebody/tuning.db");
    } else {
      CHECK(place.path == "/net/somebody/tuning.db");
      CHECK(place.shared.empty());
    }
  }
  CHECK(errors.count("/net/somebody/tuning.db' is on the network") == 1);
}

TEST_CASE("different databases on the network have different places, the same one the same") {
  if (!node_local_folder()) return;
  const std::string one = place_database("/net/a/tuning.db", nfs).path;
  CHECK(place_database("/net/a/tuning.db", nfs).path == one);
  CHECK(place_database("/net/b/tuning.db", nfs).path != one);
  CHECK(place_database("/net/a/other.db", nfs).path != one);
}

TEST_CASE("a path stays as it was written, and none stays none") {
  const temporary_folder folder;
  CHECK(tune::place_database("").path.empty());
  CHECK(tune::place_database("").shared.empty());
  const std::string path = folder.file("deeper/tuning.db");
  for (int again = 0; again < 2; ++again) CHECK(tune::place_database(path).path == path);
}

void store_at(const std::string& path) {
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(1), 1);
}

bool is_refused(const std::string& path) {
  try {
    store_at(path);
    return false;
  } catch (const database_error&) {
    CHECK_THROWS_AS(tuning_database(path).find(sample_function(), sample_key()), database_error);
    return true;
  }
}

TEST_CASE("a folder or file that others may write is not used, and nothing is put there") {
  for (const unsigned mode : {0770U, 0702U}) {
    const temporary_folder folder;
    fs::permissions(folder.path(), fs::perms(mode));
    CHECK_THROWS_WITH_AS(store_at(folder.file("tuning.db")), doctest::Contains("chmod"),
                         database_error);
    CHECK(fs::is_empty(folder.path()));
  }
  for (const unsigned mode : {0660U, 0602U}) {
    const temporary_folder folder;
    store_at(folder.file("tuning.db"));
    fs::permissions(folder.file("tuning.db"), fs::perms(mode));
    CHECK(is_refused(folder.file("tuning.db")));
    fs::permissions(folder.file("tuning.db"), fs::perms(0644));
    CHECK_FALSE(is_refused(folder.file("tuning.db")));
  }
}

TEST_CASE("in a folder for everybody's temporary files, a folder of one's own is what helps") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  store_at(path);
  fs::permissions(folder.path(), fs::perms(01777));
  CHECK_THROWS_WITH_AS(store_at(path), doctest::Contains("mkdir -m 700"), database_error);
  CHECK(is_refused(path));
  const std::string own = folder.file("own");
  fs::create_directory(own);
  fs::permissions(own, fs::perms(0700));
  CHECK_FALSE(is_refused(own + "/tuning.db"));
}

TEST_CASE("a file with two names, a pipe and a link are not used") {
  const temporary_folder folder;
  store_at(folder.file("real.db"));
  fs::create_hard_link(folder.file("real.db"), folder.file("hard.db"));
  CHECK(is_refused(folder.file("hard.db")));
  REQUIRE(::mkfifo(folder.file("pipe.db").c_str(), 0600) == 0);
  CHECK(is_refused(folder.file("pipe.db")));
  fs::create_symlink("elsewhere.db", folder.file("link.db"));
  CHECK(is_refused(folder.file("link.db")));
  CHECK_FALSE(fs::exists(folder.file("elsewhere.db")));
}

TEST_CASE("another user's folder or file is not used") {
  if (::geteuid() != 0) return;  // only the superuser can give files away
  const temporary_folder folder;
  store_at(folder.file("tuning.db"));
  REQUIRE(::chown(folder.file("tuning.db").c_str(), 65534, 65534) == 0);
  CHECK(is_refused(folder.file("tuning.db")));
  REQUIRE(::chown(folder.file("tuning.db").c_str(), 0, 0) == 0);
  REQUIRE(::chown(folder.path().c_str(), 65534, 65534) == 0);
  CHECK(is_refused(folder.file("tuning.db")));
}

TEST_CASE("a group may share a database if it says so, the world may not") {
  const scoped_environment shared("LIBTUNE_DB_ACCESS", "shared");
  const temporary_folder folder;
  fs::permissions(folder.path(), fs::perms(0770));
  CHECK_FALSE(is_refused(folder.file("tuning.db")));
  CHECK(fs::status(folder.file("tuning.db")).permissions() == fs::perms(0660));
  fs::permissions(folder.file("tuning.db"), fs::perms(0666));
  CHECK(is_refused(folder.file("tuning.db")));
  const scoped_environment bad("LIBTUNE_DB_ACCESS", "everybody");
  CHECK_THROWS_AS(require_trust(folder.file("tuning.db")), tune::environment_error);
}

TEST_CASE("any umask leaves a database that works") {
  for (const ::mode_t mask : {0000U, 0022U, 0777U}) {
    const temporary_folder folder;
    const ::mode_t before = ::umask(mask);
    store_at(folder.file("deeper/tuning.db"));
    const bool found(
        tuning_database(folder.file("deeper/tuning.db")).find(sample_function(), sample_key()));
    ::umask(before);
    CHECK(found);
    CHECK(fs::status(folder.file("deeper/tuning.db")).permissions() == fs::perms(0600));
    CHECK(fs::status(folder.file("deeper")).permissions() == fs::perms(0700));
  }
}

TEST_CASE("a folder that came to the path while the database was open is judged anew") {
  const temporary_folder place;
  const std::string path = place.file("own/tuning.db");
  store_at(path);
  store_at(place.file("bad/tuning.db"));
  fs::permissions(place.path() / "bad", fs::perms(0777));
  tuning_database database(path);
  REQUIRE(database.find(sample_function(), sample_key()));
  fs::rename(place.path() / "own", place.path() / "away");
  fs::rename(place.path() / "bad", place.path() / "own");
  CHECK_THROWS_WITH_AS(database.find(sample_function(), sample_key()),
                       doctest::Contains("written by everybody"), database_error);
  CHECK_THROWS_AS(database.store(sample_function(), sample_key(3), sample_tuning(3), 1),
                  database_error);
  fs::rename(place.path() / "own", place.path() / "bad");
  fs::rename(place.path() / "away", place.path() / "own");
  CHECK(database.find(sample_function(), sample_key()));
}

/// A system database, in a folder of its own.
struct installed {
  installed() {
    fs::create_directory(folder);
    tuning_database(path).store(sample_function(), sample_key(), sample_tuning(16), 1);
  }

  bool is_found(const std::string& name) const {
    tune::record_memory::shared().forget_all();
    const tune::tuning_layers layers(
        nullptr, {std::make_shared<tuning_database>(name, tune::database_waits{},
                                                    tune::database_access::immutable)});
    const bool found = layers.find(sample_function(), sample_key()).has_value();
    CHECK(layers.find_nearest(sample_function(), sample_key()).empty() != found);
    return found;
  }
  bool is_found() const { return is_found(path); }

  scoped_environment access{"LIBTUNE_DB_ACCESS", nullptr};
  temporary_folder outside;
  std::string folder = outside.file("system");
  std::string path = folder + "/tuning.db";
};

TEST_CASE("a system database that everybody may write is refused with one warning") {
  const installed system;
  SUBCASE("the file") { fs::permissions(system.path, fs::perms(0646)); }
  SUBCASE("its folder") { fs::permissions(system.folder, fs::perms(0777)); }
  captured_errors errors;
  CHECK_FALSE(system.is_found());
  CHECK_FALSE(system.is_found());
  CHECK(errors.count("may be written by everybody") == 1);
  CHECK(errors.count("LIBTUNE_SYSTEM_DB") == 1);
  const scoped_environment shared{"LIBTUNE_DB_ACCESS", "shared"};
  CHECK_FALSE(system.is_found());
}

TEST_CASE("a group may write a system database, and it may lie in a folder such as /tmp") {
  const installed system;
  fs::permissions(system.path, fs::perms(0664));
  fs::permissions(system.folder, fs::perms(01777));
  CHECK(system.is_found());
}

TEST_CASE("a system database of another user is refused, unless databases are shared") {
  if (::geteuid() != 0) return;  // only the superuser can give files away
  const installed system;
  SUBCASE("the file") { REQUIRE(::chown(system.path.c_str(), 65534, 65534) == 0); }
  SUBCASE("its folder") { REQUIRE(::chown(system.folder.c_str(), 65534, 65534) == 0); }
  CHECK_THROWS_WITH_AS(require_system_trust(system.path), doctest::Contains("another user"),
                       tune::database_error);
  captured_errors errors;
  CHECK_FALSE(system.is_found());
  CHECK(errors.count("belongs to another user") == 1);
  const scoped_environment shared{"LIBTUNE_DB_ACCESS", "shared"};
  CHECK(system.is_found());
}

TEST_CASE("a link to a system database is as good as its own folder and what it leads to") {
  const installed system;
  const std::string link = system.outside.file("link.db");
  fs::create_symlink(system.path, link);
  CHECK(system.is_found(link));
  const fs::path open = system.outside.file("open");
  fs::create_directory(open);
  fs::create_symlink(system.path, open / "link.db");
  fs::permissions(open, fs::perms(0777));
  CHECK_FALSE(system.is_found((open / "link.db").string()));
  fs::permissions(system.path, fs::perms(0646));
  CHECK_FALSE(system.is_found(link));
}

TEST_CASE("what is not there is no matter of trust") {
  const temporary_folder folder;
  CHECK_NOTHROW(require_system_trust(folder.file("none.db")));
}

/// A tuning database whose pages after the first are nonsense.
std::string create_damaged(const temporary_folder& folder) {
  std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(1), 1);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096);
  file << std::string(fs::file_size(path) - 4096, 'x');
  return path;
}

std::vector<std::string> names_in(const temporary_folder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

int count_aside(const temporary_folder& folder) {
  int count = 0;
  for (const std::string& name : names_in(folder)) {
    if (name.find(".damaged-") != std::string::npos) ++count;
  }
  return count;
}

TEST_CASE("a damaged database goes aside with its journals, under a name that tells when and who") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  const std::string before = content_of(path);
  std::ofstream(path + "-shm") << "shm";
  const auto aside = set_aside_if_damaged(path, 1s);
  REQUIRE(aside);
  CHECK(aside->starts_with(path + ".damaged-"));
  CHECK(aside->ends_with("Z-" + std::to_string(::getpid())));
  CHECK(content_of(*aside) == before);
  CHECK(content_of(*aside + "-shm") == "shm");
  CHECK_FALSE(fs::exists(path));
  CHECK_FALSE(fs::exists(path + "-shm"));
}

TEST_CASE("a sound database, another's, nonsense and nothing stay where they are") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(1), 1);
  CHECK_FALSE(set_aside_if_damaged(path, 1s));
  CHECK(tuning_database(path).find(sample_function(), sample_key()));

  const std::string other = folder.file("other.db");
  SQLite::Database(other, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA application_id = 77; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  std::fstream(other, std::ios::binary | std::ios::in | std::ios::out).seekp(4096) << "xxxx";
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  std::ofstream(folder.file("short")) << "SQLite format 3";
  for (const char* name : {"other.db", "text", "short"}) {
    const std::string before = content_of(folder.file(name));
    CHECK_FALSE(set_aside_if_damaged(folder.file(name), 1s));
    CHECK_THROWS_AS(tuning_database(folder.file(name))
                        .store(sample_function(), sample_key(), sample_tuning(1), 1),
                    tune::database_error);
    CHECK(content_of(folder.file(name)) == before);
  }
  CHECK_FALSE(set_aside_if_damaged(folder.file("none"), 1s));
  CHECK_FALSE(fs::exists(folder.file("none")));
  CHECK(count_aside(folder) == 0);
}

TEST_CASE("a damaged database stays while others write to it") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  const database_lock writer(path, lock_kind::shared, 0ms);
  CHECK_FALSE(set_aside_if_damaged(path, 2ms));
  CHECK(fs::exists(path));
}

TEST_CASE("the next result after damage starts a new database, with one warning") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  captured_errors errors;
  tuning_database database(path);
  database.store(sample_function(), sample_key(), sample_tuning(2), 1);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(2));
  CHECK(count_aside(folder) == 1);
  CHECK(errors.count("warning") == 1);
  CHECK(errors.count("was moved to") == 1);
}

TEST_CASE("a lookup of damage changes nothing, and its error is the warning") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  const std::string before = content_of(path);
  captured_errors errors;
  tuning_database database(path);
  CHECK_THROWS_WITH_AS(database.find(sample_function(), sample_key()), doctest::Contains("damaged"),
                       tune::database_error);
  CHECK(content_of(path) == before);
  CHECK(count_aside(folder) == 0);
  database.store(sample_function(), sample_key(), sample_tuning(2), 1);
  CHECK(count_aside(folder) == 1);
  CHECK(errors.count("warning") == 0);
}

TEST_CASE("a database that others moved or removed is not written any more") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  fs::rename(database.path(), folder.file("moved.db"));
  const std::string before = content_of(folder.file("moved.db"));
  CHECK_FALSE(database.find(sample_function(), sample_key()));
  database.store(sample_function(), sample_key(2), sample_tuning(2), 1);
  CHECK(content_of(folder.file("moved.db")) == before);
  CHECK(database.find(sample_function(), sample_key(2)));
  CHECK_FALSE(database.find(sample_function(), sample_key()));
  fs::remove(database.path());
  database.store(sample_function(), sample_key(3), sample_tuning(3), 1);
  CHECK(tuning_database(database.path()).find(sample_function(), sample_key(3)));
}

TEST_CASE("sixteen writers meet on a damaged database: it goes aside once and nothing is lost") {
  const temporary_folder folder;
  const std::string path = create_damaged(folder);
  captured_errors errors;
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (std::int64_t thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        tuning_database database(path, {.read = 60s, .write = 60s});
        for (std::int64_t i = 0; i < 5; ++i) {
          const std::int64_t row = 100 * thread + i;
          database.store(sample_function(), sample_key(row), sample_tuning(row), 1);
        }
      } catch (...) {
        ++faults;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(faults == 0);
  CHECK(count_aside(folder) == 1);
  tuning_database database(path);
  for (std::int64_t thread = 0; thread < 16; ++thread) {
    for (std::int64_t i = 0; i < 5; ++i) {
      const std::int64_t row = 100 * thread + i;
      const auto found = database.find(sample_function(), sample_key(row));
      CHECK((found && found->values == sample_tuning(row)));
    }
  }
  SQLite::Database opened(path);
  CHECK(opened.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

}  // namespace database_file_test
