// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/verify/answer.hpp"

namespace result_digest_test {

using tune::device_array;

struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()), queue(context.create_command_queue()) {}

  template <class T>
  device_array holding(const std::vector<T>& elements, std::size_t columns, std::size_t pitch) {
    const tune::shape size{elements.size() / columns, columns};
    device_array made(context, {tune::element_type::of<T>(), size, {size[0], pitch}});
    const std::byte rest{0x77};
    queue.fill(made.buffer(), made.layout().bytes(), std::span(&rest, 1));
    made.set(queue, tune::host_array<T>::copy_of(elements, size));
    return made;
  }
  template <class T>
  double digest_of(const std::vector<T>& elements, const device_array& got) {
    tune::answer expected;
    expected.add("out", elements, got.size());
    return expected.digest(queue, {{"out", got}}).value();
  }

  tune::context context;
  tune::command_queue queue;
};

template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<T>(i * 2654435761U % 251);
  return made;
}

LIBTUNE_DEVICE_TEST_CASE("equal elements have equal digests, whatever their padding and place",
                         device) {
  bench on(device);
  const auto check = [&]<class T>(T, std::size_t count) {
    auto elements = numbers<T>(count);
    const double plain = on.digest_of(elements, on.holding(elements, 100, 100));
    CHECK(on.digest_of(elements, on.holding(elements, 100, 117)) == plain);
    CHECK(plain < 0x1p48);
    std::swap(elements[3], elements[4]);
    CHECK(on.digest_of(elements, on.holding(elements, 100, 100)) != plain);
  };
  for (const std::size_t count : {std::size_t{1000}, std::size_t{1'200'000}}) {
    check(std::uint8_t{}, count);
    check(std::int16_t{}, count);
    check(float{}, count);
    check(double{}, count);
  }
}

LIBTUNE_DEVICE_TEST_CASE("the host and the device compute the same digest", device) {
  bench on(device);
  const auto elements = numbers<float>(600'000);
  const double large = on.digest_of(elements, on.holding(elements, 1000, 1024));
  // Three axes with padding between the outer ones: for the host alone.
  device_array cube(on.context, {tune::dtype::float32, {2, 300, 1000}, {2, 301, 1000}});
  cube.set(on.queue, tune::host_array<float>::copy_of(elements, {2, 300, 1000}));
  tune::answer expected;
  expected.add("out", elements, {2, 300, 1000});
  CHECK(expected.digest(on.queue, {{"out", cube}}) == large);
}

LIBTUNE_DEVICE_TEST_CASE("results without an answer, and varying ones, have no digest", device) {
  bench on(device);
  const auto elements = numbers<float>(100);
  const device_array got = on.holding(elements, 100, 100);
  CHECK_FALSE(tune::answer().digest(on.queue, {{"out", got}}));
  tune::answer varying;
  varying.add("out", elements, {1, 100}).nondeterministic();
  CHECK_FALSE(varying.digest(on.queue, {{"out", got}}));
}

}  // namespace result_digest_test
