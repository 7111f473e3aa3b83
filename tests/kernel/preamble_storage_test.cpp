// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Of the 16-bit types of the preambles, on devices.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/kernel/library_kernels.hpp"
#include "tests/kernel/on_device.hpp"

namespace preamble_storage_test {

using on_device::buffer_of;
using on_device::contents;

/// The two kernels of a type of 16 bits, on one device.
class storage_type {
 public:
  storage_type(const tune::device& device, const std::string& name)
      : queue_(device.create_context().create_command_queue()),
        program_(tune::compile(queue_.context(), library_kernels::storage())),
        load_(program_.create_kernel("load_" + name)),
        store_(program_.create_kernel("store_" + name)) {}

  std::vector<float> load(const std::vector<std::uint16_t>& from) {
    return run<float>(load_, from);
  }
  std::vector<std::uint16_t> store(const std::vector<float>& from) {
    return run<std::uint16_t>(store_, from);
  }

 private:
  template <class Out, class In>
  std::vector<Out> run(tune::kernel& kernel, const std::vector<In>& from) {
    const tune::buffer in = buffer_of(queue_, from);
    const tune::buffer out = buffer_of(queue_, std::vector<Out>(from.size()));
    kernel.set_arguments(out, in);
    queue_.enqueue(kernel, {{from.size()}, {1}});
    return contents<Out>(queue_, out);
  }

  tune::command_queue queue_;
  tune::program program_;
  tune::kernel load_;
  tune::kernel store_;
};

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  return all;
}

float from_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// IEEE half precision, from its definition.
float half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  float magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  if (exponent == 0) magnitude = std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  }
  return std::copysign(magnitude, (bits & 0x8000) != 0 ? -1.0f : 1.0f);
}

float bfloat16_value(std::uint16_t bits) { return from_bits(std::uint32_t{bits} << 16); }

/// Loads all values and stores what was loaded.
void check_round_trip(storage_type type, float (*value)(std::uint16_t)) {
  const std::vector<float> loaded = type.load(all_patterns());
  const std::vector<std::uint16_t> stored = type.store(loaded);
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    CAPTURE(i);
    const float expected = value(static_cast<std::uint16_t>(i));
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(loaded[i]));
      REQUIRE(std::isnan(value(stored[i])));
    } else {
      REQUIRE(std::memcmp(&loaded[i], &expected, sizeof expected) == 0);
      REQUIRE(stored[i] == i);
    }
  }
}

/// Halfway between neighbours is rounded to the even one, what is beside it to the nearer, for each
/// value of both signs below the largest.
void check_rounding(storage_type type, float (*value)(std::uint16_t), std::uint16_t largest) {
  std::vector<float> inputs;
  std::vector<std::uint16_t> expected;
  for (std::uint16_t bits = 0; bits < largest; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    // Exact, also where the sum would not be a float.
    const float middle = static_cast<float>((double{value(bits)} + double{value(next)}) / 2);
    const float below = std::nextafter(middle, 0.0f);
    const float above = std::nextafter(middle, std::numeric_limits<float>::infinity());
    inputs.insert(inputs.end(), {below, middle, above, -middle});
    const std::uint16_t even = bits % 2 == 0 ? bits : next;
    expected.insert(expected.end(), {bits, even, next, static_cast<std::uint16_t>(even | 0x8000)});
  }
  CHECK(type.store(inputs) == expected);
}

LIBTUNE_DEVICE_TEST_CASE("all 65536 values of a 16-bit type go to float and back", device) {
  check_round_trip(storage_type(device, "half"), half_value);
  check_round_trip(storage_type(device, "bfloat16"), bfloat16_value);
}

LIBTUNE_DEVICE_TEST_CASE("a float is rounded to the nearest value of a 16-bit type", device) {
  check_rounding(storage_type(device, "half"), half_value, 0x7BFF);
  check_rounding(storage_type(device, "bfloat16"), bfloat16_value, 0x7F7F);
}

LIBTUNE_DEVICE_TEST_CASE("what is too large becomes infinite, and a NaN of any bits stays one",
                         device) {
  const std::vector<float> large{from_bits(0x7F7FFFFF), -from_bits(0x7F7FFFFF)};
  const std::vector<float> nans{from_bits(0x7F800001), from_bits(0xFF800001), from_bits(0x7FFFFFFF),
                                from_bits(0x7FC00000)};
  storage_type half(device, "half");
  storage_type bfloat16(device, "bfloat16");
  CHECK(half.store(large) == std::vector<std::uint16_t>{0x7C00, 0xFC00});
  CHECK(bfloat16.store(large) == std::vector<std::uint16_t>{0x7F80, 0xFF80});
  for (const std::uint16_t bits : half.store(nans)) CHECK(std::isnan(half_value(bits)));
  for (const std::uint16_t bits : bfloat16.store(nans)) CHECK(std::isnan(bfloat16_value(bits)));
}

LIBTUNE_DEVICE_TEST_CASE("bfloat16 can be in local and in private memory", device) {
  auto queue = device.create_context().create_command_queue();
  auto kernel =
      tune::compile(queue.context(), library_kernels::storage()).create_kernel("reverse_bfloat16");
  std::vector<std::uint16_t> data(64);
  std::vector<std::uint16_t> expected(64);
  for (std::uint16_t i = 0; i < 64; ++i) {
    data[i] = static_cast<std::uint16_t>(0x4000 + i);
    expected[63 - i] = data[i];
  }
  const tune::buffer buffer = buffer_of(queue, data);
  kernel.set_arguments(buffer);
  queue.enqueue(kernel, {{64}, {64}});
  CHECK(contents<std::uint16_t>(queue, buffer) == expected);
}

LIBTUNE_DEVICE_TEST_CASE("bits can be taken for another type", device) {
  auto queue = device.create_context().create_command_queue();
  auto kernel =
      tune::compile(queue.context(), library_kernels::storage()).create_kernel("reinterpret");
  const tune::buffer words = buffer_of<std::uint32_t>(queue, {0x3F800000});
  const tune::buffer longs = buffer_of<std::uint64_t>(queue, {0x3FF0000000000000});
  kernel.set_arguments(words, longs);
  queue.enqueue(kernel, {{1}, {1}});
  CHECK(contents<std::uint32_t>(queue, words).front() == std::uint32_t{0x40000000} + 0xBF800000);
  CHECK(contents<std::uint64_t>(queue, longs).front() == 0x4000000000000000 + 0x3FF0000000000000);
}

}  // namespace preamble_storage_test
