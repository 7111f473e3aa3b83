// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/missed_keys.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/child_process.hpp"
#include "tests/store/random_content.hpp"
#include "tests/store/temporary_folder.hpp"

namespace missed_keys_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using namespace tune;
using counts = std::vector<tune::asked_count>;
using list = std::vector<std::int64_t>;

const tune::function_identity fill{
    "fill", 0, {{"size", tune::value_type::int64}}, {{"wgs", tune::value_type::int64}}};

record_key key(std::int64_t size) { return {{{"size", size}}, {"GPU One", "A Platform", "1.0"}}; }

void add_to_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

std::vector<std::int64_t> sizes(const std::vector<missed_key>& keys) {
  std::vector<std::int64_t> all;
  for (const missed_key& one : keys)
    all.push_back(std::get<std::int64_t>(one.key.arguments[0].value));
  return all;
}

std::string text_of(const tune::function_identity& function, const record_key& key) {
  return table_name(function) + canonical_text(key.arguments) + canonical_text(key.device);
}

struct place {
  temporary_folder folder;
  std::string path = folder.file("tuning.db-missed");
  missed_keys keys{path};
};

TEST_CASE_FIXTURE(place, "what was missed is read back, with when and by whom") {
  CHECK(keys.read().keys.empty());
  keys.remember(fill, key(64));
  keys.remember(fill, key(32));
  const auto found = keys.read();
  CHECK(found.unreadable == 0);
  REQUIRE(sizes(found.keys) == list{64, 32});
  CHECK(found.keys[0].function == fill);
  CHECK(found.keys[0].key.device == key(64).device);
  CHECK(found.keys[0].missed_at.size() == std::string("2025-01-02T03:04:05Z").size());
  CHECK(fs::path(found.keys[0].program).filename() == "store_tests");
}

TEST_CASE_FIXTURE(place, "a key is noted once by a process, and once by all of them") {
  for (int again = 0; again < 3; ++again) keys.remember(fill, key(64));
  CHECK(sizes(keys.read().keys) == list{64});
  const std::string before = content_of(path);
  // A copy under another name is, for this process, a file that it knows nothing of.
  const std::string other = folder.file("other");
  add_to_file(other, before);
  ::chmod(other.c_str(), 0600);
  missed_keys(other).remember(fill, key(64));
  CHECK(content_of(other) == before);
  missed_keys(other).remember(fill, key(65));
  CHECK(content_of(other).find(before) == 0);
  CHECK(sizes(missed_keys(other).read().keys) == list{64, 65});
}

counts asked_of(const missed_keys& keys) {
  counts all;
  for (const missed_key& each : keys.read().keys) {
    all.insert(all.end(), each.asked.begin(), each.asked.end());
  }
  return all;
}

TEST_CASE("sizes are added to the line of their key, the most frequent first") {
  const place p;
  p.keys.remember(fill, key(64));
  p.keys.remember(fill, key(32));
  p.keys.remember(fill, key(64), counts{{{5, 7}, 2}, {{6, 7}, 3}});
  p.keys.remember(fill, key(64), counts{{{5, 7}, 4}, {{9, 9}, 1}});
  p.keys.remember(fill, key(64), counts{});
  CHECK(sizes(p.keys.read().keys) == list{32, 64});
  CHECK(p.keys.read().unreadable == 0);
  CHECK(asked_of(p.keys) == counts{{{5, 7}, 6}, {{6, 7}, 3}, {{9, 9}, 1}});
  // Where nothing was missed before.
  const place other;
  other.keys.remember(fill, key(8), counts{{{1}, 1}});
  CHECK(sizes(other.keys.read().keys) == list{8});
  CHECK(other.keys.remove([](const missed_key&) { return true; }) == 1);
}

TEST_CASE_FIXTURE(
    place, "of very many sizes those that were asked for most are kept, and no count overflows") {
  counts many;
  for (std::uint64_t i = 0; i < 1000; ++i) many.push_back({{i + 1}, i + 1});
  keys.remember(fill, key(64), many);
  CHECK(asked_of(keys).size() == missed_keys::most_sizes);
  CHECK(asked_of(keys).front() == tune::asked_count{{1000}, 1000});
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  keys.remember(fill, key(64), counts{{{1000}, most}});
  CHECK(asked_of(keys).front() == tune::asked_count{{1000}, most});
}

TEST_CASE_FIXTURE(place, "threads that note the same sizes leave one whole line") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) keys.remember(fill, key(64), counts{{{3}, 1}});
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(keys.read().unreadable == 0);
  REQUIRE(asked_of(keys).size() == 1);
  CHECK(asked_of(keys).front().count <= 20);  // one that waits for a second gives up
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// A line of the file for key(64).
std::string line_of_64() {
  const place p;
  p.keys.remember(fill, key(64));
  return content_of(p.path);
}

TEST_CASE("a line is one JSON object") {
  const std::string line = line_of_64();
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(line.find(R"({"libtune_missed":1,"name":"fill","version":0,)") == 0);
  CHECK(line.find(R"("arguments":{"size":64},"device":{"device_api":"")") != std::string::npos);
}

TEST_CASE_FIXTURE(place, "every key that a database can have is read back exactly") {
  std::vector<missed_key> noted;
  std::set<std::string> seen;
  for (unsigned seed = 0; seed < 60; ++seed) {
    for (const auto& function : random_content(seed).next().functions) {
      for (const auto& result : function.results) {
        const record_key missed{result.arguments, result.device()};
        if (!seen.insert(text_of(function.function, missed)).second) continue;
        keys.remember(function.function, missed);
        noted.push_back({function.function, missed});
      }
    }
  }
  const auto found = keys.read();
  CHECK(found.unreadable == 0);
  REQUIRE(found.keys.size() == noted.size());
  CHECK(noted.size() > 20);
  for (std::size_t i = 0; i < noted.size(); ++i) {
    CHECK(found.keys[i].function == noted[i].function);
    CHECK(text_of(found.keys[i].function, found.keys[i].key) ==
          text_of(noted[i].function, noted[i].key));
  }
}

TEST_CASE_FIXTURE(place, "every number comes back exactly, and with its type") {
  const tune::function_identity function{"numbers",
                                         0,
                                         {{"a", tune::value_type::float64},
                                          {"b", tune::value_type::uint64},
                                          {"c", tune::value_type::int64},
                                          {"d", tune::value_type::boolean, true}},
                                         {}};
  using limits = std::numeric_limits<double>;
  std::vector<record_key> noted;
  for (const double real : {0.1, 5.0, 1e300, 5e-324, limits::infinity()}) {
    noted.push_back({{{"a", real},
                      {"b", std::numeric_limits<std::uint64_t>::max()},
                      {"c", std::numeric_limits<std::int64_t>::min()},
                      {"d", {}}},
                     key(1).device});
    keys.remember(function, noted.back());
  }
  const auto found = keys.read();
  REQUIRE(found.keys.size() == noted.size());
  for (std::size_t i = 0; i < noted.size(); ++i) {
    CHECK(found.keys[i].key.arguments == noted[i].arguments);
  }
}

TEST_CASE_FIXTURE(place, "of lines of one key the last counts") {
  keys.remember(fill, key(1));
  keys.remember(fill, key(2));
  const std::string first = content_of(path).substr(0, content_of(path).find('\n') + 1);
  const std::string year =
      std::to_string(std::stoi(first.substr(first.find("missed_at") + 12, 4)) + 1);
  add_to_file(path,
              replaced(first, "\"missed_at\":\"" + first.substr(first.find("missed_at") + 12, 4),
                       "\"missed_at\":\"" + year));
  const auto found = keys.read().keys;
  CHECK(sizes(found) == list{2, 1});
  CHECK(found[1].missed_at.starts_with(year));
}

TEST_CASE_FIXTURE(place, "lines that nobody can read are counted and spoil no other") {
  add_to_file(path, line_of_64() + "nonsense\n\n{\"half a line");
  ::chmod(path.c_str(), 0600);
  keys.remember(fill, key(1));
  const auto found = keys.read();
  CHECK(sizes(found.keys) == list{64, 1});
  CHECK(found.unreadable == 2);
}

TEST_CASE("a line that says no key that a database could have is one of those") {
  const std::string line = line_of_64();
  for (const std::string& bad :
       {std::string("{}\n"), replaced(line, "\"libtune_missed\":1", "\"libtune_missed\":2"),
        replaced(line, "\"version\":0", "\"version\":-2"), replaced(line, "\"fill\"", "\"fi ll\""),
        replaced(line, "\"size\":64", "\"size\":\"64\""),
        replaced(line, "\"size\":64", "\"size\":64.0"),
        replaced(line, "\"size\":64", "\"size\":64,\"more\":1"),
        replaced(line, "\"device_api\":\"\"", "\"device_api\":7"),
        replaced(line, "\"device_api\":\"\",", ""), std::string(100'000, '['),
        std::string("{\"a\":") + std::string(100'000, '['),
        std::string(100'000, '[') + std::string(100'000, ']')}) {
    CAPTURE(bad.substr(0, 200));
    const place p;
    add_to_file(p.path, bad);
    ::chmod(p.path.c_str(), 0600);
    CHECK(p.keys.read().keys.empty());
    CHECK(p.keys.read().unreadable == 1);
  }
}

TEST_CASE("the file is for its owner alone, and so is the folder that is made for it") {
  const temporary_folder folder;
  const std::string path = folder.file("a/b/tuning.db-missed");
  missed_keys(path).remember(fill, key(64));
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(::stat(folder.file("a/b").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE_FIXTURE(place, "a group may write it where it may write the database") {
  const scoped_environment shared("LIBTUNE_DB_ACCESS", "shared");
  keys.remember(fill, key(64));
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0660);
}

TEST_CASE_FIXTURE(place, "links, pipes, folders and files that others may write are left alone") {
  const std::string target = folder.file("target");
  SUBCASE("a link") {
    fs::create_symlink(target, path);
    keys.remember(fill, key(64));
    CHECK_FALSE(fs::exists(target));
    add_to_file(target, "");
  }
  SUBCASE("a second name") {
    add_to_file(target, "");
    ::chmod(target.c_str(), 0600);
    fs::create_hard_link(target, path);
  }
  SUBCASE("a pipe, which would block") { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }
  SUBCASE("a folder") { fs::create_directory(path); }
  SUBCASE("a file that everybody may write") {
    add_to_file(path, "");
    ::chmod(path.c_str(), 0666);
  }
  keys.remember(fill, key(64));
  CHECK_THROWS_AS(keys.read(), tune::database_error);
  if (fs::is_regular_file(path)) CHECK(fs::is_empty(path));
}

TEST_CASE("where nothing can be written nothing happens, and nothing is said") {
  missed_keys("").remember(fill, key(64));
  missed_keys("/proc/no/such/tuning.db-missed").remember(fill, key(64));
  missed_keys(std::string("a\0b", 3)).remember(fill, key(64));
  CHECK(missed_keys("").read().keys.empty());
  const place p;
  const int end = in_child([&] {
    // A limit on the size of files would end a careless writer by a signal.
    const ::rlimit nothing{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &nothing);
    p.keys.remember(fill, key(64));
    return 7;
  });
  CHECK(end == 7);
  CHECK(p.keys.read().keys.empty());
}

TEST_CASE("beside a device or a folder that is named as the database nothing is noted") {
  const temporary_folder folder;
  fs::create_directory(folder.file("folder"));
  fs::create_symlink("/dev/null", folder.file("null"));
  for (const char* name : {"folder", "null"}) {
    const missed_keys keys(missed_keys::path_beside(folder.file(name)));
    keys.remember(fill, key(1));
    keys.remember(fill, key(2), std::vector<tune::asked_count>{{{7}, 1}});
    CHECK_FALSE(fs::exists(missed_keys::path_beside(folder.file(name))));
  }
}

TEST_CASE_FIXTURE(place, "the file does not grow beyond its limit") {
  add_to_file(path, std::string(missed_keys::most_bytes - 10, '\n'));
  ::chmod(path.c_str(), 0600);
  keys.remember(fill, key(64));
  CHECK(fs::file_size(path) == missed_keys::most_bytes - 10);
}

TEST_CASE_FIXTURE(place, "many processes note keys at once, and no line is torn") {
  constexpr int processes = 8;
  constexpr int each = 50;
  std::vector<::pid_t> children;
  for (int child = 0; child < processes; ++child) {
    children.push_back(fork_for_use());
    if (children.back() != 0) continue;
    for (int i = 0; i < each; ++i) keys.remember(fill, key(child * each + i));
    ::_exit(0);
  }
  for (const ::pid_t child : children) ::waitpid(child, nullptr, 0);
  const auto found = keys.read();
  CHECK(found.unreadable == 0);
  CHECK(found.keys.size() == processes * each);
}

TEST_CASE_FIXTURE(place, "threads note keys at once") {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) keys.remember(fill, key(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(keys.read().keys.size() == 50);
}

TEST_CASE("keys are removed by what is said of them, and with the last the file") {
  const place p;
  for (const int size : {1, 2, 3}) p.keys.remember(fill, key(size));
  const auto is = [](std::int64_t size) {
    return
        [size](const missed_key& one) { return one.key.arguments[0].value == tune::value(size); };
  };
  CHECK(p.keys.remove(is(2)) == 1);
  CHECK(sizes(p.keys.read().keys) == list{1, 3});
  CHECK(p.keys.remove(is(2)) == 0);
  CHECK(p.keys.remove([](const missed_key&) { return true; }) == 2);
  CHECK_FALSE(fs::exists(p.path));
  CHECK(p.keys.remove([](const missed_key&) { return true; }) == 0);
}

TEST_CASE("a file that is another is neither added to nor removed") {
  const place p;
  const std::string notes = "not to be lost\nnor this\n";
  add_to_file(p.path, notes);
  ::chmod(p.path.c_str(), 0600);
  p.keys.remember(fill, key(1));
  CHECK(p.keys.remove([](const missed_key&) { return true; }) == 0);
  CHECK(content_of(p.path) == notes);
  // Also beside keys.
  const missed_keys fresh(p.path + "2");
  fresh.remember(fill, key(1));
  add_to_file(p.path + "2", notes);
  CHECK(fresh.remove([](const missed_key&) { return true; }) == 1);
  CHECK(content_of(p.path + "2") == notes);
}

TEST_CASE_FIXTURE(place, "what a database has by now is missing no more") {
  for (const int size : {1, 2, 3}) keys.remember(fill, key(size));
  const auto user = std::make_shared<tune::tuning_database>(folder.file("tuning.db"));
  const auto system = std::make_shared<tune::tuning_database>(folder.file("system.db"));
  const std::vector<tune::named_value> tuning{{"wgs", std::int64_t{32}}};
  user->store(fill, key(1), tuning, 1000.0);
  system->store(fill, key(3), tuning, 1000.0);
  CHECK(sizes(still_missing(keys.read().keys, {user, {}})) == list{2, 3});
  CHECK(sizes(still_missing(keys.read().keys, {user, {system}})) == list{2});
  // Of another device it says nothing.
  record_key elsewhere = key(2);
  elsewhere.device.driver_version = "2.0";
  user->store(fill, elsewhere, tuning, 1000.0);
  CHECK(sizes(still_missing(keys.read().keys, {user, {system}})) == list{2});
}

constexpr ::uid_t nobody = 65534;

int run(const std::string& program, const std::string& file, ::uid_t user) {
  return in_child([&] {
    if (::setgid(user) != 0 || ::setuid(user) != 0) return 9;
    ::execl(program.c_str(), program.c_str(), "miss", file.c_str(), nullptr);
    return 8;
  });
}

TEST_CASE("a program with raised privileges notes no key") {
  if (::geteuid() != 0) {
    MESSAGE("only the superuser can make a program setuid");
    return;
  }
  const temporary_directory folder;
  struct statvfs mounted {};
  REQUIRE(::statvfs(folder.path().c_str(), &mounted) == 0);
  if ((mounted.f_flag & ST_NOSUID) != 0) return;  // nothing there can be setuid
  ::chmod(folder.path().c_str(), 0755);
  const std::string program = folder / "probe";
  const std::string file = folder / "keys";
  fs::copy_file(LIBTUNE_STORE_CHILD, program);
  REQUIRE(::chmod(program.c_str(), 04755) == 0);
  CHECK(run(program, file, nobody) == 0);
  CHECK_FALSE(fs::exists(file));
  // The superuser's own call of it has no more privileges than before.
  CHECK(run(program, file, 0) == 0);
  CHECK(tune::missed_keys(file).read().keys.size() == 1);
}

}  // namespace missed_keys_test
