// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/usable_resources.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

#include "libtune/testing/temporary_directory.hpp"

namespace usable_resources_test {

namespace fs = std::filesystem;
using tune::detail::find_usable_resources;
using tune::detail::parse_cpu_max;
using tune::detail::parse_field;
using tune::detail::parse_group;
using tune::detail::parse_memory_limit;
using tune::detail::worker_count;
using tune::detail::worker_memory_bytes;

constexpr std::uint64_t gibi = std::uint64_t{1} << 30;

/// The files of a system, as they are found in a folder.
struct pretended_system {
  tune::testing::temporary_directory root;

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
};

TEST_CASE("the group of a process is the one of version 2") {
  CHECK(parse_group("4:memory:/docker/b\n1:name=systemd:/\n0::/user.slice\nnonsense\n") ==
        "/user.slice");
  CHECK_FALSE(parse_group("5:memory:/job\n3:cpu,cpuacct:/job\n").has_value());
  CHECK_FALSE(parse_group("").has_value());
}

TEST_CASE("limits are numbers, or none") {
  CHECK(parse_cpu_max("150000 100000\n").value() == doctest::Approx(1.5));
  CHECK_FALSE(parse_cpu_max("max 100000\n").has_value());
  CHECK_FALSE(parse_cpu_max("-1 100000\n").has_value());
  CHECK_FALSE(parse_cpu_max("").has_value());
  CHECK_FALSE(parse_cpu_max("150000").has_value());
  CHECK_FALSE(parse_cpu_max("150000 0").has_value());
  CHECK(parse_memory_limit("1073741824\n").value() == gibi);
  CHECK_FALSE(parse_memory_limit("max\n").has_value());
  CHECK_FALSE(parse_memory_limit("-1\n").has_value());
  CHECK(parse_field("MemTotal: 5 kB\nMemAvailable:   123 kB\n", "MemAvailable:").value() == 123);
  CHECK_FALSE(parse_field("MemTotal: 5 kB\n", "MemAvailable:").has_value());
  CHECK_FALSE(parse_field("MemAvailable: many\n", "MemAvailable:").has_value());
}

TEST_CASE("without any limit there is what is free") {
  const pretended_system system;
  system.write("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
  const auto found = find_usable_resources(system.root.path());
  CHECK(found.cores >= 1);
  CHECK(found.memory_bytes == 8 * gibi);
}

TEST_CASE("a group of version 2 limits, and so do those that it is in") {
  const pretended_system system;
  system.write("proc/meminfo", "MemAvailable: 8388608 kB\n");
  system.write("proc/self/cgroup", "0::/outer/inner\n");
  system.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  system.write("sys/fs/cgroup/outer/cpu.max", "100000 100000\n");
  system.write("sys/fs/cgroup/outer/inner/memory.max", "3221225472\n");
  system.write("sys/fs/cgroup/outer/inner/memory.current", "2147483648\n");
  system.write("sys/fs/cgroup/outer/inner/memory.stat", "anon 5\ninactive_file 1073741824\n");
  const auto found = find_usable_resources(system.root.path());
  CHECK(found.cores == 1);
  CHECK(found.memory_bytes == 2 * gibi);
}

TEST_CASE("in a container the folder that is mounted is the group") {
  const pretended_system system;
  system.write("proc/meminfo", "MemAvailable: 8388608 kB\n");
  system.write("proc/self/cgroup", "0::/known/outside/only\n");
  system.write("sys/fs/cgroup/memory.max", "1073741824\n");
  CHECK(find_usable_resources(system.root.path()).memory_bytes == gibi);
}

TEST_CASE("there are as many workers as cores, if there is memory for them") {
  CHECK(worker_count({.cores = 16, .memory_bytes = 64 * gibi}) == 16);
  CHECK(worker_count({.cores = 16, .memory_bytes = 2 * gibi}) == 4);
  CHECK(worker_count({.cores = 16, .memory_bytes = 0}) == 1);
  CHECK(worker_memory_bytes({.cores = 2, .memory_bytes = 64 * gibi}, 2) == 4 * gibi);
  CHECK(worker_memory_bytes({.cores = 4, .memory_bytes = 8 * gibi}, 4) == gibi * 3 / 2);
  CHECK(worker_memory_bytes({.cores = 4, .memory_bytes = 0}, 4) == gibi / 2);
}

}  // namespace usable_resources_test
