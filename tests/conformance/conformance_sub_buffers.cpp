// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/queue_interface.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

using bytes = std::vector<std::uint8_t>;

// A buffer of four parts, each as long as the alignment of parts or 256 bytes, full of their
// number.
struct parts_bench : conformance_bench {
  explicit parts_bench(const device& device)
      : conformance_bench(device),
        part_bytes(round_up(256, device.limits().buffer_alignment_bytes)),
        whole(context.create_buffer(4 * part_bytes)) {
    for (std::uint8_t i = 0; i < 4; ++i) queue.fill(whole, part_bytes, byte(i), i * part_bytes);
  }

  static std::span<const std::byte> byte(std::uint8_t value) {
    static constexpr auto all = [] {
      std::array<std::byte, 256> values{};
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::byte>(i);
      return values;
    }();
    return std::span(all).subspan(value, 1);
  }
  buffer part(std::size_t i, std::size_t count = 1) const {
    return context.create_sub_buffer(whole, i * part_bytes, count * part_bytes);
  }
  /// The first byte of each part, and whether all others are the same.
  bytes contents() {
    const auto all = read<std::uint8_t>(whole);
    bytes firsts;
    for (std::size_t i = 0; i < 4; ++i) {
      firsts.push_back(all[i * part_bytes]);
      for (std::size_t k = 0; k < part_bytes; ++k) {
        if (all[i * part_bytes + k] != firsts[i]) firsts[i] = 0xFF;
      }
    }
    return firsts;
  }

  std::size_t part_bytes;
  buffer whole;
};

void copies(const device& device) {
  parts_bench bench(device);
  const buffer second = bench.part(1);
  CHECK(second.size_bytes() == bench.part_bytes);
  CHECK(bench.read<std::uint8_t>(second) == bytes(bench.part_bytes, 1));
  const bytes values(bench.part_bytes, 9);
  bench.queue.write(second, values.data(), values.size());
  CHECK(bench.contents() == bytes{0, 9, 2, 3});
  bench.queue.write(second, bytes(4, 7).data(), 4, 8);
  CHECK(bench.read<std::uint8_t>(bench.whole)[bench.part_bytes + 8] == 7);
}

void fills(const device& device) {
  parts_bench bench(device);
  bench.queue.fill(bench.part(2), bench.part_bytes, bench.byte(8));
  CHECK(bench.contents() == bytes{0, 1, 8, 3});
  bench.queue.zero(bench.part(3), {0, bench.part_bytes / 4, 0, bench.part_bytes / 4, 4, 1});
  CHECK(bench.contents() == bytes{0, 1, 8, 0});
  const std::vector<std::uint8_t> three{4, 5, 6};
  bench.queue.fill(bench.part(1), 3 * 11, std::as_bytes(std::span(three)), 2);
  const auto all = bench.read<std::uint8_t>(bench.whole);
  CHECK(all[bench.part_bytes + 1] == 1);
  CHECK(all[bench.part_bytes + 2] == 4);
  CHECK(all[bench.part_bytes + 34] == 6);
  CHECK(all[bench.part_bytes + 35] == 1);
}

void kernels(const device& device) {
  parts_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  const std::size_t items = 64;
  for (const std::size_t i : {1, 3}) {
    add.set_arguments(bench.part(i), 0x01010101);
    bench.queue.enqueue(add, {{items}, {16}});
  }
  const auto all = bench.read<std::uint8_t>(bench.whole);
  CHECK(all[0] == 0);
  CHECK(all[bench.part_bytes] == 2);
  CHECK(all[bench.part_bytes + 255] == 2);
  CHECK(all[2 * bench.part_bytes] == 2);
  CHECK(all[3 * bench.part_bytes] == 4);
}

void parts_of_parts(const device& device) {
  parts_bench bench(device);
  const buffer upper = bench.part(1, 3);
  const buffer last = bench.context.create_sub_buffer(upper, 2 * bench.part_bytes, 16);
  CHECK(bench.read<std::uint8_t>(last) == bytes(16, 3));
  CHECK_THROWS_AS(bench.context.create_sub_buffer(upper, 3 * bench.part_bytes, 1), argument_error);
  bench.queue.zero(upper, upper.size_bytes());
  CHECK(bench.contents() == bytes{0, 0, 0, 0});
}

// Copies between parts of one buffer, too.
void between_parts(const device& device) {
  parts_bench bench(device);
  const buffer from = bench.part(3);
  const buffer to = bench.part(0);
  bench.queue.impl()->copy({.source = {.buffer = from.impl().get()},
                            .destination = {.buffer = to.impl().get()},
                            .row_bytes = bench.part_bytes});
  CHECK(bench.contents() == bytes{3, 1, 2, 3});
}

void keeps_its_parent(const device& device) {
  parts_bench bench(device);
  std::optional<buffer> middle = bench.part(1, 2);
  const buffer inner = bench.context.create_sub_buffer(*middle, bench.part_bytes, bench.part_bytes);
  bench.whole = bench.context.create_buffer(1);
  middle.reset();
  CHECK(bench.read<std::uint8_t>(inner) == bytes(bench.part_bytes, 2));
}

void refused(const device& device) {
  const context context = device.create_context();
  const std::size_t alignment = device.limits().buffer_alignment_bytes;
  REQUIRE(alignment >= 1);
  const std::size_t size = 4 * alignment;
  const buffer whole = context.create_buffer(size);
  CHECK_THROWS_AS(context.create_sub_buffer(whole, 0, 0), argument_error);
  CHECK_THROWS_AS(context.create_sub_buffer(whole, 0, size + 1), argument_error);
  CHECK_THROWS_AS(context.create_sub_buffer(whole, alignment, size), argument_error);
  CHECK_THROWS_AS(context.create_sub_buffer(whole, 2 * size, 1), argument_error);
  CHECK_THROWS_AS(context.create_sub_buffer(whole, alignment, ~std::size_t{0}), argument_error);
  if (alignment > 1) {
    CHECK_THROWS_AS(context.create_sub_buffer(whole, alignment / 2, 1), argument_error);
  }
  CHECK_THROWS_AS(device.create_context().create_sub_buffer(whole, 0, 1), argument_error);
  const buffer all = context.create_sub_buffer(whole, 0, size);
  CHECK(all.size_bytes() == size);
  CHECK_FALSE(all == whole);
  command_queue queue = context.create_command_queue();
  CHECK_THROWS_AS(queue.zero(context.create_sub_buffer(whole, 0, 4), 5), argument_error);
}

constexpr requirement requirements[] = {
    {"a sub-buffer is copied to and from as the part that it is", copies},
    {"a sub-buffer is filled and its neighbours are not", fills},
    {"a kernel is given a sub-buffer as any buffer", kernels},
    {"a sub-buffer has sub-buffers", parts_of_parts},
    {"parts of one buffer are copied to each other", between_parts},
    {"a sub-buffer keeps the memory that it is part of", keeps_its_parent},
    {"a sub-buffer that leaves its buffer, is empty, misaligned or foreign is refused", refused},
};

}  // namespace

std::span<const requirement> sub_buffer_requirements() { return requirements; }

}  // namespace tune::testing
