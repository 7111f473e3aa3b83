// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/fft.hpp"

#include <complex>
#include <doctest/doctest.h>
#include <random>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/fft/backend/plan.hpp"
#include "operations/fft/reference.hpp"
#include "tests/operations/transformed_numbers.hpp"

namespace fft_test {

using namespace transformed_numbers;  // NOLINT: written for these tests

LIBTUNE_DEVICE_TEST_CASE("complex arrays are transformed forward and back, with padding", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  for (const auto direction : {fft_direction::forward, fft_direction::inverse}) {
    transforms_complex<std::complex<float>>(context, {7, 16, 48}, 2, direction, {}, {7, 18, 51});
    transforms_complex<std::complex<double>>(context, {7, 16, 48}, 2, direction, {}, {7, 18, 51});
    transforms_complex<std::complex<float>>(context, {2, 16, 48}, 2, direction, {2, 17, 50}, {});
  }
}

LIBTUNE_DEVICE_TEST_CASE("real arrays are transformed forward and back, with padding", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_real<float>(context, {3, 2, 16, 48}, 2, {3, 2, 18, 52}, {3, 2, 17, 29});
  transforms_real<float>(context, {3, 2, 15, 47}, 2, {3, 2, 18, 51}, {3, 2, 17, 29});
  transforms_real<double>(context, {3, 2, 16, 48}, 2, {3, 2, 18, 51}, {3, 2, 17, 29});
  transforms_real<double>(context, {3, 2, 15, 47}, 2);
}

LIBTUNE_DEVICE_TEST_CASE("VkFFT transforms on CUDA, too", device) {
  using tune::operations::transforms::vkfft_absence;
  if (is_absent(device) || !vkfft_absence().empty()) return;
  if (device.info().backend != "CUDA") return;  // other tests have it
  const tune::context context = device.create_context();
  constexpr double slack = 2;  // for sines that a kernel computes
  const fft_tuning plain{.vkfft = true};
  const auto lines = [&](std::size_t length, const fft_tuning& tuning) {
    transforms_complex<std::complex<float>>(context, {5, length}, 1, fft_direction::forward, {}, {},
                                            slack, tuning);
  };
  for (const std::size_t length : {13, 1000, 1009, 65536}) lines(length, plain);
  for (const std::size_t length : {1009, 4096}) {
    lines(length, {.vkfft = true, .lut = true, .threads = 64});
  }
  transforms_complex<std::complex<float>>(context, {7, 16, 48}, 2, fft_direction::inverse, {},
                                          {7, 18, 51}, slack, plain);
  transforms_complex<std::complex<double>>(context, {3, 10007}, 1, fft_direction::forward, {}, {},
                                           slack, plain);
  transforms_complex<std::complex<float>>(context, {70000, 2, 4}, 2, fft_direction::forward, {}, {},
                                          slack, plain);
  transforms_complex<std::complex<float>>(context, {2100000, 2}, 1, fft_direction::inverse, {}, {},
                                          slack, plain);
  transforms_real<float>(context, {3, 2, 15, 47}, 2, {3, 2, 18, 51}, {3, 2, 17, 29}, slack, plain);
  transforms_real<float>(context, {2, 20000}, 1, {2, 20004}, {2, 10003}, slack, plain);
}

LIBTUNE_DEVICE_TEST_CASE("what VkFFT writes compiles for CUDA", device) {
  namespace transforms = tune::operations::transforms;
  if (is_absent(device) || device.info().backend != "OpenCL") return;
  const tune::command_queue queue = device.create_context().create_command_queue();
  const auto lines = [](std::size_t length, std::size_t batch) {
    transforms::fft_geometry made{.batch = batch};
    made.size[0] = made.padded_src[0] = made.padded_dest[0] = length;
    return made;
  };
  transforms::fft_geometry real = lines(96, 3);
  real.kind = tune::operations::fft_kind::r2c;
  real.padded_dest[0] = 49;
  transforms::fft_geometry precise = lines(1000, 2);
  precise.precision = tune::operations::fft_precision::full;
  for (const auto& geometry : {lines(97, 3), lines(65536, 1), real, precise}) {
    for (const bool lut : {false, true}) {
      for (const std::string& text : transforms::vkfft_cuda_texts(queue, geometry, {.lut = lut})) {
        LIBTUNE_CHECK_COMPILES((tune::kernel_source{"VkFFT.kernel", text}), {}, "cuda sm_90");
      }
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("axes of the batch may be padded", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  const auto forward = fft_direction::forward;
  transforms_complex<std::complex<float>>(context, {3, 2, 12}, 1, forward, {4, 3, 12}, {});
  transforms_complex<std::complex<float>>(context, {1, 4, 12}, 1, forward, {3, 5, 12}, {2, 6, 12});
  transforms_complex<std::complex<double>>(context, {3, 2, 5, 12}, 2, forward, {3, 3, 6, 13},
                                           {4, 5, 5, 14});
  transforms_real<float>(context, {3, 2, 2, 16}, 1, {3, 2, 3, 17}, {3, 4, 2, 10});
}

LIBTUNE_DEVICE_TEST_CASE("more axes than libraries do are transformed", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_complex<std::complex<float>>(context, {2, 4, 3, 2, 6}, 4, fft_direction::inverse);
  transforms_complex<std::complex<double>>(context, {3, 2, 1, 4, 2, 5}, 6, fft_direction::forward,
                                           {3, 3, 1, 5, 2, 5}, {4, 2, 1, 4, 3, 5});
  transforms_real<float>(context, {2, 4, 3, 2, 6}, 4, {2, 4, 3, 3, 6}, {});
}

LIBTUNE_DEVICE_TEST_CASE("lines of every kind of length are transformed", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  for (const std::size_t length : {2, 3, 13, 17, 64, 97, 1000, 1009, 4096}) {
    transforms_complex<std::complex<float>>(context, {5, length}, 1, fft_direction::forward);
  }
}

LIBTUNE_DEVICE_TEST_CASE("axes of one element are as good as none", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_complex<std::complex<float>>(context, {3, 1, 12}, 2, fft_direction::forward,
                                          {3, 2, 13}, {3, 1, 12});
  transforms_real<float>(context, {2, 5, 1, 12}, 3);
}

LIBTUNE_DEVICE_TEST_CASE("lines that are longer than local memory are transformed", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_complex<std::complex<float>>(context, {2, 65536}, 1, fft_direction::inverse);
  transforms_complex<std::complex<double>>(context, {10007}, 1, fft_direction::forward);
  transforms_real<float>(context, {2, 20000}, 1, {2, 20004}, {2, 10003});
}

LIBTUNE_DEVICE_TEST_CASE("arrays of random shape and padding are transformed", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  std::mt19937 engine(4);
  constexpr double slack = 2;  // for sines that a kernel computes: 1.25 times was seen with PoCL
  for (int i = 0; i < 4; ++i) {
    const std::size_t axes = 1 + engine() % 3;
    std::vector<std::size_t> size(engine() % 3);
    for (std::size_t& extent : size) extent = 1 + engine() % 3;
    std::vector<std::size_t> padded_real = size;
    std::vector<std::size_t> padded_complex = size;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::size_t extent = 2 + engine() % (axes == 1 ? 500 : 30);
      size.push_back(extent);
      padded_real.push_back(extent + engine() % 4);
      padded_complex.push_back((axis + 1 < axes ? extent : extent / 2 + 1) + engine() % 4);
    }
    const auto as_shape = [](const std::vector<std::size_t>& extents) {
      return shape(std::span<const std::size_t>(extents));
    };
    transforms_real<float>(context, as_shape(size), axes, as_shape(padded_real),
                           as_shape(padded_complex), slack);
    transforms_complex<std::complex<float>>(
        context, as_shape(size), axes, i % 2 == 0 ? fft_direction::forward : fft_direction::inverse,
        as_shape(padded_real), {}, slack);
  }
}

LIBTUNE_DEVICE_TEST_CASE("more transforms than a launch has groups along an axis are made",
                         device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_complex<std::complex<float>>(context, {70000, 2, 4}, 2, fft_direction::forward);
  transforms_complex<std::complex<float>>(context, {2100000, 2}, 1, fft_direction::inverse);
}

LIBTUNE_DEVICE_TEST_CASE("real lines that a library does not do are done as complex ones", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_real<float>(context, {2, 6561}, 1, {2, 6563}, {2, 3282});
  transforms_real<double>(context, {2, 3, 9000}, 2, {2, 4, 9001}, {2, 3, 4501});
  transforms_real<float>(context, {2, 5, 1}, 2, {2, 5, 2}, {2, 6, 3});
}

LIBTUNE_DEVICE_TEST_CASE("transforms run in a sequence that shares their work areas", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const shape size{2, 16384};
  const fft_template forward(context, {.size = size});
  const fft_template inverse(context, {.size = size, .direction = fft_direction::inverse});
  tune::operation_sequence both(
      queue, {{"there", forward.instantiate(queue)}, {"back", inverse.instantiate(queue)}},
      {{"spectrum", {"there:dest", "back:src"}}},
      {{"scratch",
        {tune::optional_slot("there:work_area"), tune::optional_slot("back:work_area")}}});
  both.ensure_all_bound();
  const std::vector<complex> numbers = random_numbers(size.elements());
  std::vector<std::complex<float>> values(numbers.begin(), numbers.end());
  const std::size_t bytes = values.size() * sizeof values[0];
  queue.write(both.buffer("there:src").buffer(), values.data(), bytes);
  tune::captured_operation captured(both);
  captured.run();
  std::vector<std::complex<float>> returned(values.size());
  queue.read(both.buffer("back:dest").buffer(), returned.data(), bytes);
  double furthest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    furthest = std::max<double>(furthest, std::abs(returned[i] / 16384.0F - values[i]));
  }
  CHECK(furthest < 1e-5);
}

TEST_CASE("the reference is the definition") {
  const shape size{2, 3, 5};
  const std::vector<complex> in = random_numbers(size.elements());
  std::vector<complex> got = in;
  tune::operations::fft_on_host(got, size, 2, 1);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t f = 0; f < 15; ++f) {
      complex sum = 0;
      for (std::size_t t = 0; t < 15; ++t) {
        const std::size_t thirds = (f / 5) * (t / 5);
        const std::size_t fifths = (f % 5) * (t % 5);
        const double turn = static_cast<double>(thirds) / 3.0 + static_cast<double>(fifths) / 5.0;
        sum += in[b * 15 + t] * std::polar(1.0, 2 * 3.14159265358979323846 * turn);
      }
      CHECK(std::abs(sum - got[b * 15 + f]) < 1e-13);
    }
  }
}

}  // namespace fft_test
