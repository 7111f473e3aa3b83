// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/store/files/file_lock.hpp"
#include "libtune/store/files/private_folder.hpp"
#include "tests/store/child_process.hpp"
#include "tests/store/temporary_folder.hpp"

namespace binary_cache_concurrency_test {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using namespace tune::testing;
using tune::binary_cache;
using tune::binary_key;

using bytes = std::vector<std::byte>;

constexpr std::size_t header_bytes = binary_cache::header_bytes;

constexpr std::size_t largest = 3000;
// Room for about a third of the keys.
constexpr std::uint64_t tiny_cap = 5 * (header_bytes + largest);
constexpr int key_count = 16;

binary_key key_of(int number) { return {{"text", std::to_string(number)}}; }

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
    const auto found = cache.load(key_of(wanted));
    if (!found) {
      cache.save(key_of(wanted), binary_of(wanted));
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
      cache.save(key_of(0), binary_of(content));
      const auto found = cache.load(key_of(0));
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
        cache.save(key_of(number % key_count), binary_of(number % key_count));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(300 + 137 * round));
    ::kill(child, SIGKILL);
    CHECK(exit_status_of(child) == -1);
    CHECK(bytes_in(cache.folder()) <= tiny_cap);
  }
  for (int number = 0; number < key_count; ++number) {
    if (const auto found = cache.load(key_of(number))) CHECK(*found == binary_of(number));
    cache.save(key_of(number), binary_of(number));
    CHECK(cache.load(key_of(number)) == binary_of(number));
  }
}

TEST_CASE("an entry that is evicted while it is read is read to its end") {
  const temporary_folder place;
  const std::string folder = place.file("programs");
  const binary_cache cache(folder, header_bytes + largest, 60s);
  const pid_t evicter = start_child([&] {
    for (int round = 0; round < 300; ++round) cache.save(key_of(1), binary_of(1));
    return 0;
  });
  int faults = 0;
  for (int round = 0; round < 300; ++round) {
    cache.save(key_of(0), binary_of(0));
    for (const int number : {0, 1}) {
      const auto found = cache.load(key_of(number));
      if (found && *found != binary_of(number)) ++faults;
    }
  }
  CHECK(faults == 0);
  CHECK(exit_status_of(evicter) == 0);
}

}  // namespace binary_cache_concurrency_test
