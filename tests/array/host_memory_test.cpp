// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <utility>

#include "libtune/array/host_array.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/fake_device.hpp"

namespace host_memory_test {

using tune::detail::host_memory;
using tune::testing::fake_device;

void check_copies(host_memory memory) {
  std::memset(memory.data(), 7, 3);
  host_memory copy = memory;
  CHECK(copy.is_pinned() == memory.is_pinned());
  CHECK(copy.data() != memory.data());
  CHECK(std::memcmp(copy.data(), "\7\7\7", 3) == 0);
  void* const place = copy.data();
  const host_memory moved = std::move(copy);
  CHECK(moved.data() == place);
  host_memory other(1);
  other = moved;
  CHECK(std::memcmp(other.data(), "\7\7\7", 3) == 0);
  CHECK(other.is_pinned() == memory.is_pinned());
}

TEST_CASE("copies are deep and of the same kind") {
  check_copies(host_memory(3));
  check_copies(host_memory(fake_device().device().create_context(), 3));
}

TEST_CASE("ordinary memory is aligned for vectors") {
  for (const std::size_t bytes : {1, 100, 5000}) {
    const host_memory memory(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % host_memory::alignment == 0);
  }
}

}  // namespace host_memory_test
