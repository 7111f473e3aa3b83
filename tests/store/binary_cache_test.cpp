// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/cache/binary_cache.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/store/files/file_lock.hpp"
#include "libtune/store/files/private_folder.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/child_process.hpp"
#include "tests/store/file_size_limit.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace binary_cache_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tune::testing;
using tune::binary_cache;
using tune::binary_key;
using bytes = std::vector<std::byte>;

constexpr std::size_t header_bytes = binary_cache::header_bytes;

const binary_key key{{"text", "a kernel"}};
const binary_key other_key{{"text", "another kernel"}};

bytes sample(std::size_t size = 20, int seed = 1) {
  bytes made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>(i * 7 + 13u * seed);
  return made;
}

std::string path_of(const binary_cache& cache, const binary_key& of) {
  return cache.folder() + "/" + tune::detail::to_hex(of.digest()) + ".program";
}

void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

void set_last_use(const std::string& path, std::time_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

unsigned mode_of(const fs::path& path) {
  return static_cast<unsigned>(fs::status(path).permissions());
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

/// A cache in a new folder, with one entry under key.
struct filled_cache {
  temporary_folder place;
  binary_cache cache{place.file("programs")};
  std::string path = path_of(cache, key);

  filled_cache() { cache.save(key, sample()); }

  /// Whether the cache is as good as new after the entry was found unusable.
  void check_it_heals() const {
    CHECK_FALSE(cache.load(key));
    cache.save(key, sample());
    CHECK(cache.load(key) == sample());
  }
};

TEST_CASE("a binary that was saved is found again, under its key alone") {
  const temporary_folder place;
  const binary_cache cache(place.file("programs"));
  CHECK_FALSE(cache.load(key));
  cache.save(key, sample());
  CHECK(cache.load(key) == sample());
  CHECK_FALSE(cache.load(other_key));
  CHECK(binary_cache(place.file("programs")).load(key) == sample());
  cache.save(other_key, bytes{});
  CHECK(cache.load(other_key) == bytes{});
  cache.save(key, sample(100'000, 2));
  CHECK(cache.load(key) == sample(100'000, 2));
}

TEST_CASE_FIXTURE(filled_cache, "a binary that was removed is gone") {
  cache.remove(other_key);
  CHECK(cache.load(key));
  cache.remove(key);
  CHECK_FALSE(cache.load(key));
  CHECK_FALSE(fs::exists(path));
  cache.remove(key);
  binary_cache(place.file("none")).remove(key);
}

TEST_CASE("folder and files are the owner's alone, and nothing else is made") {
  const ::mode_t before = ::umask(0);
  const filled_cache filled;
  ::umask(before);
  CHECK(mode_of(filled.cache.folder()) == 0700);
  for (const auto& file : fs::directory_iterator(filled.cache.folder())) {
    CHECK(mode_of(file.path()) == 0600);
  }
  CHECK(files_in(filled.cache.folder()) == 2);  // the entry and the lock
  binary_cache(filled.place.file("a/programs")).load(key);
  CHECK(files_in(filled.place.path()) == 1);  // reading makes nothing
  CHECK(content_of(filled.path).size() == header_bytes + 20);
}

TEST_CASE_FIXTURE(filled_cache, "an entry has the bytes that are promised") {
  const std::string content = content_of(path);
  CHECK(tune::detail::to_hex(std::as_bytes(std::span(content))) ==
        "6c696274756e6500"  // "libtune"
        "01000000" +
            tune::detail::to_hex(key.digest()) + "1400000000000000" +
            tune::detail::to_hex(tune::detail::sha256(sample())) + tune::detail::to_hex(sample()));
}

TEST_CASE_FIXTURE(filled_cache, "an entry with any one bit wrong is a miss") {
  const std::string good = content_of(path);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    put(path, flipped);
    CAPTURE(bit);
    CHECK_FALSE(cache.load(key));
  }
  check_it_heals();
}

TEST_CASE_FIXTURE(filled_cache,
                  "an entry of another length, of another key or of other bytes is a miss") {
  const std::string good = content_of(path);
  for (std::size_t length = 0; length < good.size(); ++length) {
    put(path, good.substr(0, length));
    CAPTURE(length);
    CHECK_FALSE(cache.load(key));
  }
  for (const std::string& content : {good + "x", std::string(1000, 'x')}) {
    put(path, content);
    check_it_heals();
  }
  cache.save(other_key, sample(20, 2));
  fs::copy_file(path_of(cache, other_key), path, fs::copy_options::overwrite_existing);
  check_it_heals();
}

TEST_CASE_FIXTURE(filled_cache, "a length that no memory could hold is a miss, not an allocation") {
  std::string huge = content_of(path);
  for (std::size_t i = 44; i < 51; ++i) huge[i] = '\x7f';
  put(path, huge);
  CHECK_FALSE(cache.load(key));
  REQUIRE(::truncate(path.c_str(), off_t{1} << 40) == 0);
  check_it_heals();
}

TEST_CASE("an unusable entry is one line of the debug log") {
  const scoped_environment debug("LIBTUNE_LOG", "debug");
  const filled_cache filled;
  put(filled.path, "x");
  captured_errors errors;
  CHECK_FALSE(filled.cache.load(key));
  CAPTURE(errors.text());
  CHECK(errors.count("debug") == 1);
  CHECK(errors.count("is not used: it ends too early") == 1);
  CHECK(errors.count("\n") == 1);
}

TEST_CASE_FIXTURE(filled_cache, "a file that others could have written is not read") {
  for (const unsigned mode : {0620U, 0602U}) {
    fs::permissions(path, fs::perms(mode));
    check_it_heals();
  }
  fs::create_hard_link(path, place.file("twin"));
  check_it_heals();
  if (::chown(path.c_str(), 65534, 65534) == 0) check_it_heals();
}

TEST_CASE_FIXTURE(filled_cache,
                  "a link or a pipe in the place of an entry is neither read nor waited for") {
  const std::string elsewhere = place.file("elsewhere");
  fs::rename(path, elsewhere);
  fs::create_symlink(elsewhere, path);
  check_it_heals();
  CHECK(fs::is_regular_file(fs::symlink_status(path)));
  CHECK(fs::exists(elsewhere));
  fs::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  check_it_heals();
}

TEST_CASE("a folder in the place of an entry costs the entry alone") {
  captured_errors errors;
  const filled_cache filled;
  fs::remove(filled.path);
  fs::create_directory(filled.path);
  CHECK_FALSE(filled.cache.load(key));
  filled.cache.save(key, sample());
  filled.cache.remove(key);
  CHECK_FALSE(filled.cache.load(key));
  filled.cache.save(other_key, sample());
  CHECK(filled.cache.load(other_key) == sample());
  CHECK(files_in(filled.cache.folder()) == 3);
  CHECK(errors.count("\n") == 1);
}

TEST_CASE("a folder that is a link or that others may write is not used, with one warning") {
  const filled_cache filled;
  const std::size_t before = files_in(filled.cache.folder());
  fs::create_directory_symlink(filled.cache.folder(), filled.place.path() / "link");
  for (const auto& folder : {std::pair("link", 0700U), std::pair("link/.", 0700U),
                             std::pair("programs", 0770U), std::pair("programs/.", 01777U)}) {
    captured_errors errors;
    const auto [name, mode] = folder;
    CAPTURE(folder.first);
    const binary_cache cache(filled.place.file(name));
    fs::permissions(filled.cache.folder(), fs::perms(mode));
    CHECK_FALSE(cache.load(key));
    cache.save(other_key, sample());
    cache.remove(key);
    fs::permissions(filled.cache.folder(), fs::perms(0700));
    CHECK(errors.count("are not kept in") == 1);
    CHECK(errors.count("\n") == 1);
  }
  CHECK(files_in(filled.cache.folder()) == before);
  CHECK(filled.cache.load(key));
}

TEST_CASE("a folder that may only be read is read, with one warning however often") {
  const without_privileges ordinary;
  const filled_cache filled;
  fs::permissions(filled.cache.folder(), fs::perms(0500));
  captured_errors errors;
  const binary_cache cache(filled.cache.folder());
  for (int i = 0; i < 3; ++i) {
    CHECK(cache.load(key) == sample());
    cache.save(other_key, sample());
    CHECK_FALSE(cache.load(other_key));
    cache.remove(key);
  }
  CAPTURE(errors.text());
  CHECK(errors.count("warning") == 1);
  CHECK(errors.count("\n") == 1);
  CHECK(errors.count("LIBTUNE_CACHE") == 1);
  CHECK(errors.count(cache.folder()) == 1);
  fs::permissions(filled.cache.folder(), fs::perms(0700));
}

TEST_CASE("a folder that cannot be made costs one warning") {
  const temporary_folder place;
  put(place.file("file"), "text");
  captured_errors errors;
  const binary_cache cache(place.file("file/programs"));
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(cache.load(key));
    cache.save(key, sample());
    cache.remove(key);
  }
  CHECK(errors.count("\n") == 1);
  CHECK(content_of(place.file("file")) == "text");
}

TEST_CASE("a full disk leaves what was there, and nothing of what was not written") {
  captured_errors errors;
  const filled_cache filled;
  for (const std::size_t limit : {0U, 10U, 84U, 1000U}) {
    const file_size_limit full(limit);
    filled.cache.save(key, sample(1000, 2));
    filled.cache.save(other_key, sample(1000, 2));
    CHECK(files_in(filled.cache.folder()) == 2);
    CHECK_FALSE(filled.cache.load(other_key));
    CHECK(filled.cache.load(key) == sample());
  }
  CHECK(errors.count("\n") == 1);
  filled.cache.save(other_key, sample(1000, 2));
  CHECK(filled.cache.load(other_key) == sample(1000, 2));
}

TEST_CASE("what was not used for longest makes way, and a load is a use") {
  const temporary_folder place;
  const std::size_t each = header_bytes + 100;
  const binary_cache cache(place.file("programs"), 3 * each);
  std::vector<binary_key> keys;
  for (int i = 0; i < 5; ++i) keys.push_back(binary_key{{"text", std::to_string(i)}});
  for (int i = 0; i < 3; ++i) {
    cache.save(keys[i], sample(100, i));
    set_last_use(path_of(cache, keys[i]), 1000 + i);
  }
  CHECK(cache.load(keys[0]));  // otherwise the oldest
  cache.save(keys[3], sample(100, 3));
  CHECK(fs::exists(path_of(cache, keys[0])));
  CHECK_FALSE(fs::exists(path_of(cache, keys[1])));
  CHECK(fs::exists(path_of(cache, keys[2])));
  cache.save(keys[4], sample(3 * each - header_bytes, 4));
  CHECK(files_in(cache.folder()) == 2);
  CHECK(cache.load(keys[4]) == sample(3 * each - header_bytes, 4));
}

TEST_CASE("an entry that takes the place of its own makes nobody else go") {
  const temporary_folder place;
  const binary_cache cache(place.file("programs"), 2 * (header_bytes + 100));
  cache.save(other_key, sample(100));
  cache.save(key, sample(100));
  cache.save(key, sample(100, 2));
  CHECK(cache.load(other_key) == sample(100));
  CHECK(cache.load(key) == sample(100, 2));
}

TEST_CASE("what is larger than the cap is not kept, and makes nobody go") {
  const temporary_folder place;
  const binary_cache cache(place.file("programs"), header_bytes + 100);
  cache.save(key, sample(100));
  cache.save(other_key, sample(101));
  CHECK(cache.load(key) == sample(100));
  CHECK_FALSE(cache.load(other_key));
  CHECK_FALSE(binary_cache(cache.folder(), header_bytes + 99).load(key));
}

TEST_CASE("many that are saved together are found, each under its key") {
  const temporary_folder place;
  const binary_cache cache(place.file("programs"));
  std::vector<binary_cache::entry> entries;
  for (int i = 0; i < 100; ++i) {
    const binary_key of{{"number", std::to_string(i)}};
    entries.push_back({.key = of.digest(), .binary = sample(50, i)});
  }
  cache.save_all(entries);
  for (int i = 0; i < 100; ++i) {
    CHECK(cache.load({{"number", std::to_string(i)}}) == sample(50, i));
  }
  cache.save_all({});
  CHECK(files_in(cache.folder()) == 101);  // and the lock
}

TEST_CASE("many that are saved together never have more bytes than the cap") {
  constexpr std::size_t size = header_bytes + 50;
  const temporary_folder place;
  const binary_cache cache(place.file("programs"), 10 * size);
  std::vector<binary_cache::entry> entries;
  for (int i = 0; i < 25; ++i) {
    const binary_key of{{"number", std::to_string(i)}};
    entries.push_back({.key = of.digest(), .binary = sample(50, i)});
  }
  entries.push_back({.key = key.digest(), .binary = sample(11 * size)});
  cache.save_all(entries);
  std::uintmax_t total = 0;
  for (const auto& file : fs::directory_iterator(cache.folder())) total += file.file_size();
  CHECK(total <= 10 * size);
  CHECK(total >= 5 * size);
  CHECK(cache.load({{"number", "24"}}) == sample(50, 24));
  CHECK_FALSE(cache.load(key).has_value());
}

TEST_CASE("files of other names are neither counted nor removed") {
  const temporary_folder place;
  put(place.file("notes.txt"), std::string(10'000, 'x'));
  put(place.file(std::string(64, 'g') + ".program"), std::string(10'000, 'x'));
  put(place.file(std::string(63, 'a') + ".program"), std::string(10'000, 'x'));
  const binary_cache cache(place.path().string(), 2 * (header_bytes + 100));
  for (int i = 0; i < 5; ++i) cache.save({{"text", std::to_string(i)}}, sample(100));
  CHECK(files_in(place.path()) == 3 + 2 + 1);
}

TEST_CASE_FIXTURE(filled_cache, "what a killed process left is removed after an hour, not before") {
  const std::string folder = cache.folder() + "/";
  const std::string old = folder + std::string(32, 'a') + ".tmp";
  const std::string fresh = folder + std::string(32, 'b') + ".tmp";
  for (const std::string& name : {old, fresh}) put(name, "x");
  set_last_use(old, std::time(nullptr) - 3601);
  set_last_use(fresh, std::time(nullptr) - 3000);
  cache.save(other_key, sample());
  CHECK_FALSE(fs::exists(old));
  CHECK(fs::exists(fresh));
}

TEST_CASE_FIXTURE(filled_cache, "a save does not wait for ever for one who keeps the lock") {
  const binary_cache impatient(cache.folder(), binary_cache::default_cap_bytes,
                               std::chrono::milliseconds(1));
  {
    const auto folder = tune::detail::private_folder::open(cache.folder());
    tune::detail::file_lock held(folder->open_lock_file(binary_cache::lock_file_name));
    REQUIRE(held.take(std::chrono::milliseconds(0)));
    impatient.save(other_key, sample());
    CHECK_FALSE(impatient.load(other_key));
    CHECK(impatient.load(key) == sample());
    CHECK(files_in(impatient.folder()) == 2);
  }
  impatient.save(other_key, sample());
  CHECK(impatient.load(other_key) == sample());
}

TEST_CASE("a relative folder is the one of the time when the cache was made") {
  const temporary_folder place;
  const fs::path before = fs::current_path();
  fs::current_path(place.path());
  const binary_cache cache("programs");
  fs::current_path(before);
  cache.save(key, sample());
  CHECK(cache.load(key));
  CHECK(fs::exists(place.path() / "programs"));
}

TEST_CASE("entries of a clock that was ten years ahead do not keep later ones out") {
  const temporary_folder place;
  const binary_cache cache(place.file("programs"), header_bytes + 20);
  cache.save(key, sample());
  set_last_use(path_of(cache, key), std::time(nullptr) + 10 * 365 * 86'400);
  cache.save(other_key, sample());
  CHECK(cache.load(other_key));
  CHECK_FALSE(cache.load(key));
}

TEST_CASE("an entry of any time is found, and its time is put right by that") {
  constexpr std::time_t ten_years = 10 * 365 * 86'400;
  for (const std::time_t skew : {-ten_years, ten_years}) {
    const filled_cache filled;
    set_last_use(filled.path, std::time(nullptr) + skew);
    CHECK(filled.cache.load(key) == sample());
    struct stat status {};
    REQUIRE(::stat(filled.path.c_str(), &status) == 0);
    CHECK(std::abs(status.st_mtim.tv_sec - std::time(nullptr)) < ten_years / 2);
  }
}

TEST_CASE("a key is its names and texts in their order") {
  CHECK(binary_key{{"a", "1"}, {"b", "2"}}.digest() ==
        binary_key().add("a", "1").add("b", "2").digest());
  CHECK(binary_key{{"a", "1"}, {"b", "2"}}.digest() != binary_key{{"b", "2"}, {"a", "1"}}.digest());
}

TEST_CASE("no two lists of texts make the same key") {
  const std::vector<std::string> texts{
      "", "a", "aa", "1:a", "1:a1:a", std::string("a\0", 2), ":", "0:", std::string(10, 'a')};
  std::set<tune::detail::sha256_digest> digests{binary_key().digest()};
  std::size_t keys = 1;
  for (const std::string& first : texts) {
    for (const std::string& second : texts) {
      digests.insert(binary_key{{first, second}}.digest());
      ++keys;
      for (const std::string& third : texts) {
        digests.insert(binary_key{{first, second}, {third, ""}}.digest());
        ++keys;
      }
    }
  }
  CHECK(digests.size() == keys);
}

constexpr std::size_t largest = 3000;
// Room for about a third of the keys.
constexpr std::uint64_t tiny_cap = 5 * (header_bytes + largest);
constexpr int key_count = 16;

binary_key numbered_key(int number) { return {{"text", std::to_string(number)}}; }

/// What every writer of a key saves, so that a reader can tell whether it got what it asked for.
bytes binary_of(int number) {
  const auto size = static_cast<std::size_t>(1000 + 2000 / key_count * number);
  return bytes(size, static_cast<std::byte>(number));
}

/// Saves and loads by turns; the count of binaries that were not what was saved.
int faults_of_one_writer(const binary_cache& cache, int seed, int rounds) {
  int faults = 0;
  for (int round = 0; round < rounds; ++round) {
    const int wanted = (round * 7 + seed * 3) % key_count;
    const auto found = cache.load(numbered_key(wanted));
    if (!found) {
      cache.save(numbered_key(wanted), binary_of(wanted));
    } else if (*found != binary_of(wanted)) {
      ++faults;
    }
  }
  return faults;
}

/// What all entries have together while nobody changes them.
std::uint64_t bytes_in(const std::string& path) {
  const auto folder = tune::detail::private_folder::open(path);
  if (!folder) return 0;
  tune::detail::file_lock lock(folder->open_lock_file(binary_cache::lock_file_name));
  lock.take(60s);
  std::uint64_t total = 0;
  for (const auto& file : folder->list_files()) {
    if (file.name.ends_with(".program")) total += file.bytes;
  }
  return total;
}

template <class Work>
pid_t start_child(const Work& work) {
  std::fflush(nullptr);  // so that the child has nothing of ours to write
  const pid_t child = fork_for_use();
  if (child == 0) ::_exit(work());
  return child;
}

TEST_CASE("sixteen processes never exceed a tiny cap and never read what was not saved") {
  const temporary_folder place;
  const std::string folder = place.file("programs");
  std::vector<pid_t> children;
  for (int seed = 0; seed < 16; ++seed) {
    children.push_back(start_child([&] {
      const binary_cache cache(folder, tiny_cap, 60s);
      int faults = 0;
      for (int round = 0; round < 200; ++round) {
        faults += faults_of_one_writer(cache, seed + round, 2);
        if (bytes_in(folder) > tiny_cap) ++faults;
      }
      return std::min(faults, 100);
    }));
  }
  for (const pid_t child : children) CHECK(exit_status_of(child) == 0);
  CHECK(bytes_in(folder) <= tiny_cap);
  // Room was not made beyond what was needed: no further entry would fit.
  CHECK(bytes_in(folder) + header_bytes + largest > tiny_cap);
}

TEST_CASE("threads that share a cache read what was saved or nothing") {
  const temporary_folder place;
  const binary_cache cache(place.file("programs"), tiny_cap, 60s);
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 8; ++seed) {
    threads.emplace_back([&, seed] { faults += faults_of_one_writer(cache, seed, 60); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(faults == 0);
  CHECK(bytes_in(cache.folder()) <= tiny_cap);
}

TEST_CASE("processes and threads that save one key at once leave one whole entry") {
  const temporary_folder place;
  const std::string folder = place.file("a/b/programs");
  const auto save_often = [&folder](int content) {
    const binary_cache cache(folder, binary_cache::default_cap_bytes, 60s);
    int faults = 0;
    for (int round = 0; round < 20; ++round) {
      cache.save(numbered_key(0), binary_of(content));
      const auto found = cache.load(numbered_key(0));
      if (found != binary_of(1) && found != binary_of(2)) ++faults;
    }
    return faults;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(start_child([&] { return save_often(1 + i % 2); }));
  std::atomic<int> faults{0};
  std::thread first([&] { faults += save_often(1); });
  std::thread second([&] { faults += save_often(2); });
  first.join();
  second.join();
  for (const pid_t child : children) CHECK(exit_status_of(child) == 0);
  CHECK(faults == 0);
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 2);
}

TEST_CASE("processes that are killed while they save leave whole entries or none") {
  const temporary_folder place;
  const binary_cache cache(place.file("programs"), tiny_cap, 60s);
  for (int round = 0; round < 40; ++round) {
    const pid_t child = start_child([&] {
      for (int number = round;; ++number) {
        cache.save(numbered_key(number % key_count), binary_of(number % key_count));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(300 + 137 * round));
    ::kill(child, SIGKILL);
    CHECK(exit_status_of(child) == -1);
    CHECK(bytes_in(cache.folder()) <= tiny_cap);
  }
  for (int number = 0; number < key_count; ++number) {
    if (const auto found = cache.load(numbered_key(number))) CHECK(*found == binary_of(number));
    cache.save(numbered_key(number), binary_of(number));
    CHECK(cache.load(numbered_key(number)) == binary_of(number));
  }
}

TEST_CASE("an entry that is evicted while it is read is read to its end") {
  const temporary_folder place;
  const std::string folder = place.file("programs");
  const binary_cache cache(folder, header_bytes + largest, 60s);
  const pid_t evicter = start_child([&] {
    for (int round = 0; round < 300; ++round) cache.save(numbered_key(1), binary_of(1));
    return 0;
  });
  int faults = 0;
  for (int round = 0; round < 300; ++round) {
    cache.save(numbered_key(0), binary_of(0));
    for (const int number : {0, 1}) {
      const auto found = cache.load(numbered_key(number));
      if (found && *found != binary_of(number)) ++faults;
    }
  }
  CHECK(faults == 0);
  CHECK(exit_status_of(evicter) == 0);
}

}  // namespace binary_cache_test
