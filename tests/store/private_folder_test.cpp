// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/private_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/store/file_size_limit.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace private_folder_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using namespace tune::detail;
using namespace tune;
using names = std::vector<std::string>;

private_folder open_folder(const fs::path& path) {
  auto folder = private_folder::open(path.string());
  REQUIRE(folder);
  return std::move(*folder);
}

struct opened_folder {
  temporary_folder place;
  private_folder folder = open_folder(place.path());
};

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

void put_file(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms(0600));
}

/// Lets a test have any mode, whatever the mask of the process is.
class [[nodiscard]] scoped_mask {
 public:
  explicit scoped_mask(::mode_t mask) : before_(::umask(mask)) {}
  ~scoped_mask() { ::umask(before_); }
  scoped_mask(const scoped_mask&) = delete;
  scoped_mask& operator=(const scoped_mask&) = delete;

 private:
  ::mode_t before_;
};

TEST_CASE("folders are made for the owner alone, and existing ones stay as they are") {
  const temporary_folder place;
  const scoped_mask open_to_all(0);
  fs::create_directory(place.path() / "a");
  CHECK_FALSE(create_private_folders(place.file("a/b/c")));
  CHECK(mode_of(place.path() / "a") == 0777);
  CHECK(mode_of(place.path() / "a/b") == 0700);
  CHECK(mode_of(place.path() / "a/b/c") == 0700);
  CHECK_FALSE(create_private_folders(place.file("a/b/c")));
}

TEST_CASE("folders that cannot be made have a reason") {
  const temporary_folder place;
  put_file(place.file("file"), "text");
  CHECK(create_private_folders(place.file("file/a")) == std::errc::not_a_directory);
  const without_privileges ordinary;
  CHECK(create_private_folders("/libtune-test/a") == std::errc::permission_denied);
}

TEST_CASE("trust depends on the owner, the right to write, and the policy") {
  struct stat status {};
  const auto reason = [&](::mode_t mode, ::uid_t owner, const trust_policy& policy) {
    status.st_mode = mode;
    status.st_uid = owner;
    return distrust(status, policy);
  };
  const ::uid_t own = ::geteuid();
  const ::uid_t other = own + 12345;
  const ::mode_t sticky = S_IFDIR | 01777;
  CHECK(reason(S_IFREG | 0644, own, {}).empty());
  CHECK(reason(S_IFREG | 0644, other, {}) == "belongs to another user");
  CHECK(reason(S_IFREG | 0644, other, {.superuser = true}) == "belongs to another user");
  CHECK(reason(S_IFREG | 0644, other, {.anybody = true}).empty());
  CHECK(reason(S_IFREG | 0644, 0, {.superuser = true}).empty());
  CHECK(reason(S_IFREG | 0664, own, {}) == "may be written by its group");
  CHECK(reason(S_IFREG | 0664, own, {.group = true}).empty());
  CHECK(reason(S_IFREG | 0646, own, {.group = true}) == "may be written by everybody");
  CHECK(reason(sticky, own, {.group = true}) == "may be written by everybody");
  CHECK(reason(sticky, own, {.group = true, .sticky_folder = true}).empty());
  CHECK(reason(S_IFREG | 01646, own, {.sticky_folder = true}) == "may be written by everybody");
}

TEST_CASE("a folder that others may change is refused, whoever may read it") {
  const temporary_folder place;
  CHECK_FALSE(private_folder::open(place.file("a/b")));  // there is none
  CHECK_FALSE(private_folder::open(""));
  for (const unsigned mode : {0755U, 0711U}) {
    fs::permissions(place.path(), fs::perms(mode));
    CHECK(private_folder::open(place.path().string()));
  }
  for (const unsigned mode : {0720U, 0702U, 01777U}) {
    fs::permissions(place.path(), fs::perms(mode));
    CHECK_THROWS_WITH_AS(private_folder::open(place.path().string()),
                         doctest::Contains("the folder may be written by"), std::system_error);
  }
  const without_privileges ordinary;
  if (::geteuid() == 0) return;
  CHECK_THROWS_WITH_AS(private_folder::open("/"), doctest::Contains("another user"),
                       std::system_error);
}

TEST_CASE("a link to a folder is refused, with a slash after it too, and what is no folder") {
  const temporary_folder place;
  fs::create_directory(place.path() / "real");
  fs::permissions(place.path() / "real", fs::perms(0700));
  fs::create_directory_symlink(place.path() / "real", place.path() / "link");
  put_file(place.file("file"), "text");
  REQUIRE(::mkfifo(place.file("pipe").c_str(), 0600) == 0);
  CHECK(private_folder::open(place.file("real//")));
  CHECK(private_folder::open(place.file("real/././/")));
  for (const char* name : {"link", "link/", "link//", "link/.", "link/.//./", "file", "pipe"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(private_folder::open(place.file(name)), std::system_error);
  }
}

TEST_CASE_FIXTURE(opened_folder,
                  "only a regular file of the user alone, with one name, is opened") {
  CHECK_FALSE(folder.open_file("none"));
  put_file(place.file("file"), "text");
  CHECK(folder.open_file("file"));
  fs::permissions(place.file("file"), fs::perms(0644));
  CHECK(folder.open_file("file"));
  for (const unsigned mode : {0620U, 0602U}) {
    fs::permissions(place.file("file"), fs::perms(mode));
    CHECK_THROWS_AS(folder.open_file("file"), std::system_error);
  }
  fs::permissions(place.file("file"), fs::perms(0600));

  REQUIRE(::mkfifo(place.file("pipe").c_str(), 0600) == 0);
  fs::create_directory(place.file("folder"));
  fs::create_symlink("file", place.file("link"));
  for (const char* name : {"pipe", "folder", "link"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(folder.open_file(name), std::system_error);
    CHECK_THROWS_AS(folder.open_lock_file(name), std::system_error);
  }
  fs::create_hard_link(place.file("file"), place.file("twin"));
  CHECK_THROWS_WITH_AS(folder.open_file("file"), doctest::Contains("several names"),
                       std::system_error);
  fs::remove(place.file("twin"));
  if (::chown(place.file("file").c_str(), 65534, 65534) != 0) return;  // only a superuser can
  CHECK_THROWS_WITH_AS(folder.open_file("file"), doctest::Contains("another user"),
                       std::system_error);
}

TEST_CASE_FIXTURE(opened_folder,
                  "a new file is the owner's alone, whatever the mask of the process") {
  for (const ::mode_t mask : {0000U, 0777U}) {
    const scoped_mask masked(mask);
    const std::string name = "file" + std::to_string(mask);
    CHECK(folder.create_file(name));
    CHECK(mode_of(place.path() / name) == 0600);
  }
}

TEST_CASE_FIXTURE(opened_folder, "a new file takes the place of nothing") {
  put_file(place.file("file"), "text");
  fs::create_symlink("target", place.file("link"));
  CHECK_THROWS_AS(folder.create_file("file"), std::system_error);
  CHECK_THROWS_AS(folder.create_file("link"), std::system_error);
  CHECK(fs::file_size(place.file("file")) == 4);
  CHECK_FALSE(fs::exists(place.file("target")));
}

TEST_CASE("files are reached through the folder that was opened, whatever has its name now") {
  const temporary_folder place;
  fs::create_directory(place.path() / "a");
  fs::permissions(place.path() / "a", fs::perms(0700));
  const private_folder folder = open_folder(place.path() / "a");
  fs::rename(place.path() / "a", place.path() / "b");
  fs::create_directory(place.path() / "a");
  CHECK(folder.create_file("one"));
  folder.rename_file("one", "two");
  CHECK(fs::exists(place.path() / "b/two"));
  CHECK(fs::is_empty(place.path() / "a"));
  folder.remove_file("two");
  CHECK(fs::is_empty(place.path() / "b"));
}

TEST_CASE_FIXTURE(opened_folder,
                  "a list has the regular files, their sizes and the times of their last use") {
  CHECK(folder.list_files().empty());
  put_file(place.file("file"), "text");
  const timespec times[2] = {{1, 0}, {1'000'000'007, 5}};
  REQUIRE(::utimensat(AT_FDCWD, place.file("file").c_str(), times, 0) == 0);
  fs::create_directory(place.file("folder"));
  fs::create_symlink("file", place.file("link"));
  for (int again = 0; again < 2; ++again) {
    const auto files = folder.list_files();
    REQUIRE(files.size() == 1);
    CHECK(files[0].name == "file");
    CHECK(files[0].bytes == 4);
    CHECK(files[0].used == 1'000'000'007'000'000'005);
  }
  CHECK(last_use(folder.open_file("file")) == 1'000'000'007'000'000'005);
}

TEST_CASE_FIXTURE(opened_folder, "removing what is gone is no failure, removing a folder is one") {
  CHECK_NOTHROW(folder.remove_file("none"));
  fs::create_directory(place.file("folder"));
  CHECK_THROWS_AS(folder.remove_file("folder"), std::system_error);
  CHECK_THROWS_AS(folder.rename_file("none", "other"), std::system_error);
  CHECK_NOTHROW(folder.synchronise());
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST_CASE_FIXTURE(opened_folder, "a file is under its name when it is published, and all of it") {
  std::ofstream(place.file("name")) << "before";
  {
    temporary_file file(folder);
    file.write(bytes_of("one "));
    file.write(bytes_of("two"));
    file.synchronise();
    CHECK(content_of(place.file("name")) == "before");
    file.publish("name");
  }
  CHECK(content_of(place.file("name")) == "one two");
  CHECK(std::distance(fs::directory_iterator(place.path()), {}) == 1);
}

TEST_CASE_FIXTURE(opened_folder, "a file that is not published leaves nothing behind") {
  {
    temporary_file first(folder);
    temporary_file second(folder);
    first.write(bytes_of("text"));
    CHECK(std::distance(fs::directory_iterator(place.path()), {}) == 2);
    for (const auto& entry : fs::directory_iterator(place.path())) {
      CHECK(is_temporary_name(entry.path().filename().string()));
    }
    fs::create_directory(place.file("folder"));
    CHECK_THROWS_AS(second.publish("folder"), std::system_error);
    fs::remove(place.file("folder"));
  }
  CHECK(fs::is_empty(place.path()));
}

TEST_CASE_FIXTURE(opened_folder, "a limit on the size of files is an error and ends nothing") {
  {
    temporary_file file(folder);
    const file_size_limit limit(100);
    CHECK_NOTHROW(file.write(bytes_of(std::string(60, 'x'))));
    CHECK_THROWS_AS(file.write(bytes_of(std::string(60, 'x'))), std::system_error);
    CHECK_THROWS_AS(file.write(bytes_of("x")), std::system_error);
  }
  CHECK(fs::is_empty(place.path()));
}

TEST_CASE("only names that temporary files are given pass for one") {
  const std::string digits(32, 'a');
  CHECK(is_temporary_name(digits + ".tmp"));
  const std::vector<std::string> others{digits,  digits + ".tmp2", digits + "a.tmp",
                                        "a.tmp", ".tmp",           std::string(32, 'g') + ".tmp"};
  for (const std::string& other : others) {
    CHECK_FALSE(is_temporary_name(other));
  }
}

constexpr file_time now = 1000;
const std::vector<listed_file> files{{"c", 10, 300}, {"a", 20, 100}, {"d", 40, -5}, {"b", 5, 200}};

TEST_CASE("the least recently used files go, no more than have to, the first by name of equals") {
  CHECK(least_recently_used({}, 0, now).empty());
  CHECK(least_recently_used(files, 75, now).empty());
  CHECK(least_recently_used(files, 74, now) == names{"d"});
  CHECK(least_recently_used(files, 35, now) == names{"d"});
  CHECK(least_recently_used(files, 34, now) == names{"d", "a"});
  CHECK(least_recently_used(files, 14, now) == names{"d", "a", "b"});
  CHECK(least_recently_used(files, 0, now) == names{"d", "a", "b", "c"});
  CHECK(least_recently_used({{"z", 1, 7}, {"x", 1, 7}, {"y", 1, 7}}, 1, now) == names{"x", "y"});
}

TEST_CASE("those that were used ten years ahead go before all others, an hour ahead is no fault") {
  constexpr file_time hour = 3'600'000'000'000;
  constexpr file_time ten_years = hour * 24 * 365 * 10;
  const std::vector<listed_file> skewed{{"old", 1, now - ten_years},
                                        {"late", 1, now + ten_years},
                                        {"ahead", 1, now + hour},
                                        {"later", 1, now + 2 * ten_years},
                                        {"new", 1, now}};
  CHECK(least_recently_used(skewed, 0, now) == names{"late", "later", "old", "new", "ahead"});
  CHECK(least_recently_used(skewed, 3, now) == names{"late", "later"});
}

auto files_in(const temporary_folder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), {});
}

TEST_CASE("a file is made, or replaced with all of its content, for its owner alone") {
  const temporary_folder folder;
  const std::string path = folder.file("a.json");
  for (const std::string& content :
       {std::string("old"), std::string(1 << 20, 'x'), std::string("a\0b", 3), std::string()}) {
    replace_file(path, content);
    CHECK(content_of(path) == content);
    CHECK(files_in(folder) == 1);
  }
  CHECK(fs::status(path).permissions() == fs::perms(0600));
}

TEST_CASE("who has the old file open still sees all of it") {
  const temporary_folder folder;
  replace_file(folder.file("a"), "old");
  std::ifstream reader(folder.file("a"));
  replace_file(folder.file("a"), "the new one");
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "old");
}

TEST_CASE("a step that fails leaves the old file and nothing else") {
  const temporary_folder folder;
  replace_file(folder.file("a"), "old");
  CHECK_THROWS_AS(replace_file_by(folder.file("a"),
                                  [](const std::string& name) {
                                    std::ofstream(name) << "half";
                                    throw std::runtime_error("it failed");
                                  }),
                  std::runtime_error);
  CHECK(content_of(folder.file("a")) == "old");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a place that cannot be written is an error that names the file and the reason") {
  const temporary_folder folder;
  CHECK_THROWS_WITH_AS(replace_file(folder.file("none/a"), "text"),
                       doctest::Contains("none/a' could not be written"), tune::error);
  fs::create_directory(folder.path() / "b");
  CHECK_THROWS_WITH_AS(replace_file(folder.file("b"), "text"), doctest::Contains("renaming"),
                       tune::error);
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a symbolic link is replaced, not what it leads to") {
  const temporary_folder folder;
  replace_file(folder.file("target"), "old");
  fs::create_symlink("target", folder.path() / "link");
  replace_file(folder.file("link"), "new");
  CHECK(content_of(folder.file("target")) == "old");
  CHECK(content_of(folder.file("link")) == "new");
  CHECK_FALSE(fs::is_symlink(folder.file("link")));
}

TEST_CASE("file systems that machines share are told from those of one machine") {
  for (const long kind :
       {0x6969L, 0xff534d42L, 0x0bd00bd0L, 0x00c36400L, 0x65735546L, 0x01021997L}) {
    CHECK(is_network_file_system(kind));
  }
  for (const long kind : {0xef53L, 0x58465342L, 0x9123683eL, 0x01021994L, 0x794c7630L, 0L}) {
    CHECK_FALSE(is_network_file_system(kind));
  }
}

TEST_CASE("what does not exist is on the file system of the folder above") {
  const temporary_folder folder;
  const auto kind = file_system_of(folder.path().string());
  REQUIRE(kind);
  CHECK(file_system_of(folder.file("a/b/c.db")) == kind);
}

TEST_CASE("the folder of this machine is the user's alone") {
  const auto local = node_local_folder();
  if (!local) return;
  CHECK(local->ends_with("-" + std::to_string(::geteuid())));
  CHECK((std::filesystem::status(*local).permissions() & std::filesystem::perms(0077)) ==
        std::filesystem::perms::none);
}

TEST_CASE("the user's cache folder is that of XDG_CACHE_HOME, else of HOME") {
  const scoped_environment home("HOME", "/home/user");
  {
    const scoped_environment cache("XDG_CACHE_HOME", "/var/cache/user");
    CHECK(user_cache_folder() == "/var/cache/user/libtune");
  }
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "relative/cache"}) {
    const scoped_environment cache("XDG_CACHE_HOME", unusable);
    CHECK(user_cache_folder() == "/home/user/.cache/libtune");
  }
}

TEST_CASE("without a home there is no cache folder") {
  const scoped_environment cache("XDG_CACHE_HOME", nullptr);
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "home", "/"}) {
    const scoped_environment home("HOME", unusable);
    CHECK_FALSE(user_cache_folder());
  }
}

}  // namespace private_folder_test
