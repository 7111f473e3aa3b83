// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/memory_chunk.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/fake_device.hpp"

namespace memory_chunk_test {

using tune::detail::memory_chunk;
using tune::testing::fake_device;

TEST_CASE("a part is what its bytes are in the whole") {
  const tune::context context = fake_device().device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer whole = context.create_buffer(1024);
  queue.zero(whole, 1024);
  const auto chunk = std::make_shared<memory_chunk>(whole, 256);
  const std::optional<tune::buffer> first = chunk->take(10);
  const std::optional<tune::buffer> second = chunk->take(10);
  REQUIRE(second.has_value());
  const std::vector<std::byte> ones(10, std::byte{1});
  queue.write(*second, ones.data(), 10);
  std::vector<std::byte> contents(1024);
  queue.read(whole, contents.data(), 1024);
  CHECK(std::vector(contents.begin() + 256, contents.begin() + 266) == ones);
  CHECK(contents[255] == std::byte{0});
  CHECK(contents[266] == std::byte{0});
}

TEST_CASE("a part goes back when the last handle goes, even one that a kernel or a copy made") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  const auto chunk = std::make_shared<memory_chunk>(context.create_buffer(1024), 256);
  std::optional<tune::buffer> part = chunk->take(1024);
  auto shared = part->impl();
  part.reset();
  CHECK(chunk->bytes_in_use() == 1024);
  CHECK_FALSE(chunk->take(1).has_value());
  shared.reset();
  CHECK(chunk->bytes_in_use() == 0);
  CHECK(chunk->largest_free_bytes() == 1024);
}

TEST_CASE("a part that cannot be made leaves nothing taken") {
  const tune::context context = fake_device().device().create_context();
  // Less than the device asks of sub-buffers.
  const auto chunk = std::make_shared<memory_chunk>(context.create_buffer(1024), 1);
  const std::optional<tune::buffer> first = chunk->take(1);
  CHECK_THROWS_AS(chunk->take(1), tune::argument_error);
  CHECK(chunk->bytes_in_use() == 1);
}

}  // namespace memory_chunk_test
