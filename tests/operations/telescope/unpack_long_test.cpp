// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <span>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/unpack/reference.hpp"
#include "operations/telescope/unpack/unpack.hpp"
#include "tests/operations/short_tuning.hpp"

namespace unpack_long_test {

using tune::dtype;
using tune::operations::packed_row_bytes;
using tune::operations::unpack_key;
using tune::operations::unpack_template;
using tune::operations::unpack_tuning;

template <class T>
void unpacks(const tune::context& context, const unpack_key& key, const unpack_tuning& tuning) {
  CAPTURE(key.bits);
  CAPTURE(tuning.adjacent);
  const unpack_template made(context, key, tuning);
  constexpr std::size_t samples = 5003;
  std::mt19937 engine(1);
  tune::host_array<std::uint8_t> packed({1, packed_row_bytes(samples, key.bits)});
  for (std::uint8_t& byte : std::span(packed.data(), packed.size()[1])) {
    byte = static_cast<std::uint8_t>(engine());
  }
  tune::command_queue queue = context.create_command_queue();
  auto op = made.instantiate(queue, 1, samples);
  op.ensure_all_bound();
  op.buffer("samples").set(queue, packed);
  op.run();
  const auto found = op.buffer("out").template get<T>(queue);
  const auto expected = tune::operations::unpack_on_host<T>(packed, key.bits, samples);
  int different = 0;
  for (std::size_t i = 0; i < samples; ++i) different += found(0, i) != expected(0, i) ? 1 : 0;
  CHECK(different == 0);
}

LIBTUNE_DEVICE_TEST_CASE("samples of all widths are unpacked exactly", device) {
  const tune::context context = device.create_context();
  for (std::size_t bits = 2; bits <= 16; ++bits) {
    const unpack_tuning tuning{.adjacent = bits % 3 == 0 ? 8U : bits % 3 == 1 ? 4U : 2U};
    unpacks<float>(context, {bits, dtype::float32}, tuning);
    unpacks<std::int16_t>(context, {bits, dtype::int16}, tuning);
  }
}

LIBTUNE_DEVICE_TEST_CASE("every tuning of unpack is exact", device) {
  const tune::context context = device.create_context();
  for (const unpack_tuning& tuning : tune::operations::tuning_space(unpack_key{})) {
    unpacks<float>(context, {10, dtype::float32}, tuning);
    unpacks<std::int16_t>(context, {10, dtype::int16}, tuning);
  }
}

LIBTUNE_DEVICE_TEST_CASE("unpack can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const unpack_template made(context);
  CHECK(tune::operations::tuning_space(unpack_key{}).find(made.tuning()));
}

TEST_CASE("unpack compiles for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (std::size_t bits = 2; bits <= 16; bits += 7) {
      CHECK_NOTHROW(unpack_template(context, {bits, dtype::float32}));
      CHECK_NOTHROW(unpack_template(context, {bits, dtype::int16}));
    }
  });
}

}  // namespace unpack_long_test
