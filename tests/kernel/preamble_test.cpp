// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/preamble.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/kernel/library_kernels.hpp"
#include "tests/kernel/on_device.hpp"

namespace preamble_test {

using on_device::buffer_of;
using on_device::contents;

TEST_CASE("both preambles define the same portable words") {
  std::istringstream words(
      "KERNEL;DEVICE_FN;GLOBAL;LOCAL;LOCAL_DECL;DYNAMIC_LOCAL_PARAMETER(type, name);"
      "DYNAMIC_LOCAL_DECL(type, name);CONSTANT;CONSTANT_DECL;RESTRICT;"
      "REQD_WORK_GROUP_SIZE(x, y, z);BARRIER();BARRIER_LOCAL();BARRIER_GLOBAL();UNROLL;"
      "UNROLL_BY(n);FMA(a, b, c);RSQRT(x);ATOMIC_ADD(p, v);ATOMIC_SUB(p, v);ATOMIC_MIN(p, v);"
      "ATOMIC_MAX(p, v);ATOMIC_AND(p, v);ATOMIC_OR(p, v);ATOMIC_XOR(p, v);ATOMIC_XCHG(p, v);"
      "ATOMIC_CAS(p, expected, v);SHUFFLE_AVAILABLE");
  for (std::string word; std::getline(words, word, ';');) {
    CAPTURE(word);
    const std::string line = "#define " + word;
    CHECK(tune::preamble(tune::kernel_language::opencl_c).find(line) != std::string::npos);
    CHECK(tune::preamble(tune::kernel_language::cuda_cpp).find(line) != std::string::npos);
  }
}

TEST_CASE("both preambles round to bfloat16 in the same way") {
  const auto rounding = [](tune::kernel_language language) {
    const std::string text(tune::preamble(language));
    const std::size_t first = text.find("DEVICE_FN ushort libtune_bfloat16_bits(float value) {");
    REQUIRE(first != std::string::npos);
    return text.substr(first, text.find("\n}\n", first) - first);
  };
  CHECK(rounding(tune::kernel_language::opencl_c) == rounding(tune::kernel_language::cuda_cpp));
}

TEST_CASE("a preamble says which language it is for") {
  CHECK(tune::preamble(tune::kernel_language::opencl_c).find("#define LIBTUNE_OPENCL 1") !=
        std::string::npos);
  CHECK(tune::preamble(tune::kernel_language::cuda_cpp).find("#define LIBTUNE_CUDA 1") !=
        std::string::npos);
}

// As library_kernels::vector_calculation has it, where each operation gives an element.
template <class T>
T calculated(T a, T b) {
  const auto element = [](auto value) { return static_cast<T>(value); };
  T r = element(T{3} * element(element(element(a + b) * T{2}) - element(b / a)));
  r = element(r - T{1});
  r = element(r + a);
  r = element(r - T{1});
  r = element(r * b);
  r = element(r / T{2});
  r = element(-r);
  if constexpr (std::is_integral_v<T>) {
    r = element(r ^ element(element(element(a % b) | element(element(~b) & T{6})) << T{2}));
    r = element(r >> T{1});
    r = element(r | T{1});
    r = element(r % T{100});
  }
  return r;
}

template <class T>
void check_vectors(tune::command_queue& queue, const tune::program& built,
                   const std::string& type) {
  CAPTURE(type);
  const std::vector<T> in{1, 2, 3, 4, 5, 6, 7, 8, 8, 6, 9, 12, 10, 18, 14, 16};
  std::vector<T> expected;
  for (const int width : library_kernels::vector_widths) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) {
      expected.push_back(calculated(in[i], in[8 + i]));
    }
  }
  const tune::buffer source = buffer_of(queue, in);
  const tune::buffer out = buffer_of(queue, std::vector<T>(library_kernels::vector_results));
  auto kernel = built.create_kernel("vectors_" + type);
  kernel.set_arguments(out, source);
  queue.enqueue(kernel, {{1}, {1}});
  CHECK(contents<T>(queue, out) == expected);
}

tune::program compile_words(const tune::context& context) {
  return tune::compile(context, library_kernels::words(), tune::defines().add("words_rounds", 4));
}

LIBTUNE_DEVICE_TEST_CASE("vectors of 2, 3, 4 and 8 calculate element by element", device) {
  auto queue = device.create_context().create_command_queue();
  const tune::program built = tune::compile(queue.context(), library_kernels::vectors());
  check_vectors<std::int8_t>(queue, built, "char");
  check_vectors<std::uint8_t>(queue, built, "uchar");
  check_vectors<std::int16_t>(queue, built, "short");
  check_vectors<std::uint16_t>(queue, built, "ushort");
  check_vectors<std::int32_t>(queue, built, "int");
  check_vectors<std::uint32_t>(queue, built, "uint");
  check_vectors<std::int64_t>(queue, built, "long");
  check_vectors<std::uint64_t>(queue, built, "ulong");
  check_vectors<float>(queue, built, "float");
  check_vectors<double>(queue, built, "double");
}

LIBTUNE_DEVICE_TEST_CASE("constants, unrolled loops, fused products and roots are right", device) {
  auto queue = device.create_context().create_command_queue();
  auto kernel = compile_words(queue.context()).create_kernel("calculations");
  const tune::buffer out = buffer_of(queue, std::vector<double>(7));
  kernel.set_arguments(out, 1.0F);
  queue.enqueue(kernel, {{1}, {1}});
  const auto result = contents<double>(queue, out);
  CHECK(result[0] == 30 + 6 + 8 + 6 + 8);
  CHECK(result[1] == 0x1p-24);  // 0 if the product were rounded
  CHECK(result[2] == 0x1p-56);
  CHECK(result[3] == doctest::Approx(0.5).epsilon(1e-6));
  CHECK(result[4] == doctest::Approx(4).epsilon(1e-12));
  CHECK(result[5] == 3 + 50 + 700 + 9000);
  CHECK(result[6] == doctest::Approx(1.25).epsilon(1e-6));
}

LIBTUNE_DEVICE_TEST_CASE("kernels know the device's SIMD width, shuffles, and extreme numbers",
                         device) {
  auto queue = device.create_context().create_command_queue();
  const tune::kernel_source source{"known.kernel", R"(
CONSTANT_DECL float extremes[2] = {INFINITY, -FLT_MAX};
KERNEL void known(GLOBAL float* out) {
  out[0] = SIMD_GROUP_SIZE;
  out[1] = SHUFFLE_AVAILABLE;
  for (int i = 0; i < 2; ++i) out[2 + i] = extremes[i];
  out[4] = NAN;
})"};
  auto kernel = tune::compile(queue.context(), source).create_kernel("known");
  const tune::buffer out = buffer_of(queue, std::vector<float>(5));
  kernel.set_arguments(out);
  queue.enqueue(kernel, {{1}, {1}});
  const auto known = contents<float>(queue, out);
  CHECK(known[0] == static_cast<float>(std::max<std::size_t>(1, device.simd_group_size())));
  CHECK((known[1] == 0 || known[1] == 1));
  CHECK(known[2] == std::numeric_limits<float>::infinity());
  CHECK(known[3] == std::numeric_limits<float>::lowest());
  CHECK(std::isnan(known[4]));
  CHECK_THROWS_AS(tune::defines().add("SIMD_GROUP_SIZE", 32), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("atomic operations lose nothing, in local and in global memory", device) {
  auto queue = device.create_context().create_command_queue();
  auto kernel = compile_words(queue.context()).create_kernel("counts");
  const tune::buffer ints = buffer_of<std::int32_t>(queue, {0, 0, 0, 0, -1, 0, 0});
  const tune::buffer uints =
      buffer_of<std::uint32_t>(queue, {0, 1000, 1000, 0, 0xffffffff, 0, 0, 0, 0, 0});
  const tune::buffer floats = buffer_of<float>(queue, {0, 0, 0, 0});
  kernel.set_arguments(ints, uints, floats);
  queue.enqueue(kernel, {{256}, {64}});
  const auto i = contents<std::int32_t>(queue, ints);
  const std::int32_t sum = 255 * 256 / 2;
  CHECK(i == std::vector<std::int32_t>{sum, -sum, -248, 248, i[4], sum - i[4], -sum});
  const auto u = contents<std::uint32_t>(queue, uints);
  CHECK(u == std::vector<std::uint32_t>{static_cast<std::uint32_t>(sum), 744, 3, 255, 0xffff0000,
                                        0xffff, 0, u[7], 1, 256});
  CHECK(u[7] >= 1);
  CHECK(u[7] <= 256);
  CHECK(contents<float>(queue, floats) == std::vector<float>{64, 1, 255, 128});
}

LIBTUNE_DEVICE_TEST_CASE("a global barrier shows what the group wrote to global memory", device) {
  auto queue = device.create_context().create_command_queue();
  auto kernel = compile_words(queue.context()).create_kernel("neighbours");
  const tune::buffer out = buffer_of(queue, std::vector<std::int32_t>(256));
  const tune::buffer scratch = buffer_of(queue, std::vector<std::int32_t>(256));
  kernel.set_arguments(out, scratch);
  queue.enqueue(kernel, {{256}, {64}});
  std::vector<std::int32_t> expected;
  for (int i = 0; i < 256; ++i) expected.push_back(3 * (i - i % 64 + 63 - i % 64));
  CHECK(contents<std::int32_t>(queue, out) == expected);
}

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

}  // namespace preamble_test
