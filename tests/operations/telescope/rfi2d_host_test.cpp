// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/rfi2d_host.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>

#include "libtune/base/error.hpp"
#include "tests/operations/telescope/rfi2d_cases.hpp"

using tune::host_array;
using tune::operations::rfi2d_host_flagger;
using tune::operations::rfi2d_parameters;

namespace {

using flag_array = host_array<std::uint8_t>;

std::uint32_t crc32(const flag_array& flags) {
  std::uint32_t crc = ~0U;
  for (std::size_t i = 0; i < flags.padded_elements(); ++i) {
    crc ^= flags.data()[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320U : 0);
  }
  return ~crc;
}

std::size_t count(const flag_array& flags) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < flags.padded_elements(); ++i) sum += flags.data()[i];
  return sum;
}

std::size_t count(const flag_array& flags, std::size_t baseline) {
  std::size_t sum = 0;
  for (std::size_t t = 0; t < flags.size()[0]; ++t) {
    for (std::size_t f = 0; f < flags.size()[1]; ++f) sum += flags(t, f, baseline);
  }
  return sum;
}

bool same(const flag_array& a, const flag_array& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.padded_elements(), b.data());
}

}  // namespace

TEST_CASE("the 2-D flagger finds what katsdpsigproc's finds, flag by flag") {
  struct golden {
    rfi2d_parameters parameters;
    std::array<std::size_t, 2> counts;
    std::uint32_t crc;
  };
  const rfi2d_case given = golden_rfi2d_case();
  const std::array<golden, 5> numbers{{
      {{}, {703, 529}, 0x44c97bf1},
      {{.freq_chunks = 1}, {697, 529}, 0x3d389cff},
      {{.freq_chunks = 4, .average_freq = 2}, {667, 614}, 0x0a49d0fa},
      {{.background_iterations = 3, .freq_chunks = 3}, {697, 529}, 0x3d389cff},
      {{.time_extend = 1, .freq_extend = 1, .freq_chunks = 3}, {347, 281}, 0x39da318f},
  }};
  for (const golden& expected : numbers) {
    const flag_array flags = rfi2d_host_flagger(expected.parameters).flag(given.data, given.flags);
    CHECK(count(flags, 0) == expected.counts[0]);
    CHECK(count(flags, 1) == expected.counts[1]);
    CHECK(crc32(flags) == expected.crc);
  }
}

TEST_CASE("the number of threads does not change a flag") {
  const rfi2d_case given = random_rfi2d_case(19, 70, 37, 3);
  const flag_array serial = rfi2d_host_flagger({}, 1).flag(given.data, given.flags);
  CHECK(count(serial) > 0);
  for (const std::size_t threads : {2, 3, 5, 64}) {
    CHECK(same(rfi2d_host_flagger({}, threads).flag(given.data, given.flags), serial));
  }
}

TEST_CASE("complex numbers count by their magnitude, real ones by their absolute value") {
  rfi2d_case given = random_rfi2d_case(12, 50, 19, 4);
  host_array<std::complex<float>> turned(given.data.size());
  for (std::size_t i = 0; i < given.data.padded_elements(); ++i) {
    const float value = given.data.data()[i];
    turned.data()[i] = i % 2 != 0 ? std::complex<float>(0, value) : std::complex<float>(-value, 0);
  }
  const flag_array expected = rfi2d_host_flagger().flag(given.data, given.flags);
  CHECK(same(rfi2d_host_flagger().flag(turned, given.flags), expected));
  for (std::size_t i = 0; i < given.data.padded_elements(); i += 2) given.data.data()[i] *= -1;
  CHECK(same(rfi2d_host_flagger().flag(given.data, given.flags), expected));
}

TEST_CASE("whatever is not finite is flagged, and disturbs nothing else") {
  const auto flag_with = [](float odd) {
    rfi2d_case given = random_rfi2d_case(20, 40, 1, 5);
    given.data.fill(2);
    for (std::size_t i = 0; i < given.data.padded_elements(); ++i) {
      given.data.data()[i] += 0.001F * static_cast<float>(i * 37 % 11);
    }
    given.flags.fill(0);
    given.data(7, 11, 0) = odd;
    return rfi2d_host_flagger({.time_extend = 1, .freq_extend = 1}).flag(given.data, given.flags);
  };
  const flag_array with_nan = flag_with(std::numeric_limits<float>::quiet_NaN());
  CHECK(with_nan(7, 11, 0) == 1);
  CHECK(same(flag_with(std::numeric_limits<float>::infinity()), with_nan));
}

TEST_CASE("padding is neither read nor in the way") {
  const rfi2d_case given = random_rfi2d_case(9, 33, 18, 6);
  host_array<float> data(given.data.size(), {10, 40, 21});
  flag_array flags(given.flags.size(), {9, 35, 18});
  data.fill(std::numeric_limits<float>::quiet_NaN());
  flags.fill(1);
  for (std::size_t t = 0; t < 9; ++t) {
    for (std::size_t f = 0; f < 33; ++f) {
      for (std::size_t b = 0; b < 18; ++b) {
        data(t, f, b) = given.data(t, f, b);
        flags(t, f, b) = given.flags(t, f, b);
      }
    }
  }
  CHECK(same(rfi2d_host_flagger().flag(data, flags),
             rfi2d_host_flagger().flag(given.data, given.flags)));
}

TEST_CASE("arrays of every shape are flagged, also empty ones and those of one sample") {
  for (const tune::shape& size : {tune::shape{1, 1, 1},
                                  {1, 100, 3},
                                  {50, 1, 2},
                                  {2, 3, 17},
                                  {0, 4, 4},
                                  {4, 0, 4},
                                  {4, 4, 0}}) {
    const rfi2d_case given = random_rfi2d_case(size[0], size[1], size[2], 7);
    for (const std::size_t chunks : {1, 10}) {
      for (const std::size_t average : {1, 3}) {
        const rfi2d_host_flagger flagger({.freq_chunks = chunks, .average_freq = average});
        CHECK(flagger.flag(given.data, given.flags).size() == size);
      }
    }
  }
}

TEST_CASE("shapes that differ, and parameters out of range, are errors that say which") {
  const rfi2d_host_flagger flagger;
  CHECK_THROWS_WITH_AS(flagger.flag(host_array<float>({2, 3, 4}), flag_array({2, 3, 5})),
                       doctest::Contains("(2, 3, 5)"), tune::argument_error);
  CHECK_THROWS_AS(flagger.flag(host_array<float>({2, 3}), flag_array({2, 3})),
                  tune::argument_error);
  CHECK_THROWS_WITH_AS(rfi2d_host_flagger({.freq_chunks = 0}), doctest::Contains("freq_chunks"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(rfi2d_host_flagger({.windows_time = {1, 0}}),
                       doctest::Contains("windows_time"), tune::argument_error);
  for (const std::size_t rounds : {std::size_t{1001}, std::numeric_limits<std::size_t>::max()}) {
    CHECK_THROWS_WITH_AS(rfi2d_host_flagger({.background_iterations = rounds}),
                         doctest::Contains("background_iterations"), tune::argument_error);
  }
  CHECK_THROWS_WITH_AS(rfi2d_host_flagger({.background_iterations = 10, .spike_width_time = 1e6}),
                       doctest::Contains("spike_width_time"), tune::argument_error);
  CHECK_THROWS_WITH_AS(rfi2d_host_flagger({.rho = 0}), doctest::Contains("rho"),
                       tune::argument_error);
}

namespace {

/// An observation of 234 times and 345 channels, and the interference in it.
struct known_interference {
  known_interference() : given(234, 345, 1), injected({234, 345, 1}) {
    numpy_random random(1);
    for (std::size_t t = 0; t < 234; ++t) {
      for (std::size_t f = 0; f < 345; ++f) {
        const bool line = f == 30 || f == 200 || f == 201;
        const bool time = t == 60 && f > 20 && f < 340;
        const bool blob = t >= 100 && t < 110 && f >= 100 && f < 106;
        const bool spike = (t * 345 + f) % 9973 == 17;
        injected(t, f, 0) = line || time || blob || spike ? 1 : 0;
        given.data(t, f, 0) =
            static_cast<float>(std::abs(random.normal(10, 0.1) + (injected(t, f, 0) != 0 ? 2 : 0)));
      }
    }
  }
  rfi2d_case given;
  flag_array injected;
};

}  // namespace

TEST_CASE("no interference is missed, and little else flagged") {
  const known_interference known;
  for (const rfi2d_parameters& parameters :
       {rfi2d_parameters{.time_extend = 1, .freq_extend = 1},
        rfi2d_parameters{.time_extend = 1, .freq_extend = 1, .freq_chunks = 1},
        rfi2d_parameters{.time_extend = 1, .freq_extend = 1, .freq_chunks = 15},
        rfi2d_parameters{.time_extend = 1, .freq_extend = 1, .average_freq = 2}}) {
    const flag_array flags =
        rfi2d_host_flagger(parameters).flag(known.given.data, known.given.flags);
    std::size_t missed = 0, extra = 0;
    for (std::size_t i = 0; i < flags.padded_elements(); ++i) {
      missed += known.injected.data()[i] > flags.data()[i] ? 1 : 0;
      extra += known.injected.data()[i] < flags.data()[i] ? 1 : 0;
    }
    CHECK(missed == 0);
    CHECK(extra < flags.padded_elements() * 3 / 100);
  }
}

TEST_CASE("where all is flagged nothing is found") {
  known_interference known;
  known.given.flags.fill(1);
  CHECK(count(rfi2d_host_flagger().flag(known.given.data, known.given.flags)) == 0);
}

TEST_CASE("each part of the band has a noise of its own") {
  rfi2d_case given(60, 200, 1);
  numpy_random random(9);
  for (std::size_t t = 0; t < 60; ++t) {
    for (std::size_t f = 0; f < 200; ++f) {
      // Ten times the noise in the second half.
      const double deviation = f < 100 ? 0.05 : 0.5;
      given.data(t, f, 0) = static_cast<float>(random.normal(10, deviation));
    }
  }
  given.data(30, 17, 0) = 11;
  given.data(30, 170, 0) = 11;
  const flag_array flags = rfi2d_host_flagger().flag(given.data, given.flags);
  CHECK(flags(30, 17, 0) == 1);
  CHECK(flags(30, 170, 0) == 0);
}

TEST_CASE("windows along time are used up to the number of times, not of channels") {
  // Weak interference in one of two channels, which only long windows see.
  rfi2d_case given(200, 2, 1);
  numpy_random random(10);
  for (std::size_t t = 0; t < 200; ++t) {
    for (std::size_t f = 0; f < 2; ++f) {
      given.data(t, f, 0) = static_cast<float>(random.normal(10, 0.1));
    }
    if (t >= 80 && t < 88) given.data(t, 1, 0) += 0.28F;
  }
  const rfi2d_parameters parameters{.windows_freq = {}, .spike_width_freq = 0, .freq_chunks = 1};
  const flag_array flags = rfi2d_host_flagger(parameters).flag(given.data, given.flags);
  for (std::size_t t = 80; t < 88; ++t) CHECK(flags(t, 1, 0) == 1);
}
