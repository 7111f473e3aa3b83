// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/slow/slow_subjects.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <random>

#include "coulomb.kernel.hpp"
#include "dedisperse.kernel.hpp"
#include "multiply.kernel.hpp"
#include "nbody.kernel.hpp"

namespace bench {
namespace {

constexpr int checked_points = 64;

/// Compares some elements of an output with sums on the host, which would take too long for all.
/// @param of  gives the expected value of an element
auto spot_check(std::vector<std::size_t> places, const std::function<double(std::size_t)>& of,
                double allowed) {
  std::vector<double> expected;
  expected.reserve(places.size());
  for (const std::size_t place : places) expected.push_back(of(place));
  return [places = std::move(places), expected = std::move(expected),
          allowed](const tune::kernel_results& results) -> std::optional<std::string> {
    const auto got = results.get<float>(0);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double value = got.data()[places[i]];
      if (std::abs(value - expected[i]) <= allowed * std::abs(expected[i]) + allowed) continue;
      return fmt::format("element {} is {}, not {}", places[i], value, expected[i]);
    }
    return std::nullopt;
  };
}

std::vector<std::size_t> places_in(std::size_t size, std::size_t stride = 1) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> any(0, size / stride - 1);
  std::vector<std::size_t> places{0, (size / stride - 1) * stride};
  while (places.size() < checked_points) places.push_back(any(random) * stride);
  return places;
}

template <class Element>
tune::host_array<Element> copy_of(const std::vector<Element>& elements, const tune::shape& size) {
  return tune::host_array<Element>::copy_of({elements.data(), elements.size()}, size);
}

template <class Element>
tune::host_array<Element> copy_of(const std::vector<Element>& elements) {
  return copy_of(elements, {elements.size()});
}

tune::bare_kernel make_kernel(const char* name, std::string_view text,
                              std::vector<tune::quantity> size) {
  return tune::bare_kernel(
      {.name = name, .source = std::string(text), .problem_size = std::move(size)});
}

slow_subject dedispersion(bool small) {
  const std::uint32_t samples = small ? 2500 : 25000;
  const std::uint32_t measures = small ? 64 : 2048;
  const std::uint32_t channels = small ? 128 : 1536;
  std::vector<std::int32_t> delays;
  std::int32_t longest = 0;
  // The delay of a channel grows with the measure and with the inverse square of its frequency.
  for (std::uint32_t measure = 0; measure < measures; ++measure) {
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      const double frequency = 1.2 + 0.3 * channel / channels;  // GHz
      const double delay = 2.0 * measure * (1 / (frequency * frequency) - 1 / (1.5 * 1.5));
      delays.push_back(static_cast<std::int32_t>(delay));
      longest = std::max(longest, delays.back());
    }
  }
  const std::uint32_t pitch = samples + static_cast<std::uint32_t>(longest);
  std::vector<std::uint8_t> input(std::size_t{pitch} * channels);
  std::mt19937 random(2);
  for (std::uint8_t& sample : input) sample = static_cast<std::uint8_t>(random());
  auto kernel = make_kernel("dedisperse", embedded::dedisperse_kernel, {samples, measures});
  kernel.parameter("block_size_x", {16, 32, 64, 128, 256, 512});
  kernel.parameter("block_size_y", {1, 2, 4, 8, 16, 32});
  kernel.parameter("tile_size_x", {1, 2, 4, 8}).parameter("tile_size_y", {1, 2, 4, 8});
  kernel.parameter("tile_stride_x", {0, 1}).parameter("tile_stride_y", {0, 1});
  kernel.parameter("channel_unroll", {1, 2, 4, 8, 16});
  kernel.restrict("32 <= block_size_x * block_size_y <= 1024");
  kernel.restrict("tile_size_x > 1 or tile_stride_x == 0");
  kernel.restrict("tile_size_y > 1 or tile_stride_y == 0");
  kernel.divide_grid_x({"block_size_x", "tile_size_x"});
  kernel.divide_grid_y({"block_size_y", "tile_size_y"});
  kernel.define("CHANNELS", std::int64_t{channels});
  kernel.arguments(tune::out<float>({measures, samples}, "sums"), tune::in(input, "samples"),
                   tune::in(delays, "delays"), samples, measures, pitch);
  kernel.verify(spot_check(
      places_in(std::size_t{measures} * samples),
      [&](std::size_t place) {
        double sum = 0;
        const std::int32_t* const own = delays.data() + place / samples * channels;
        for (std::size_t channel = 0; channel < channels; ++channel) {
          sum += input[channel * pitch + static_cast<std::size_t>(own[channel]) + place % samples];
        }
        return sum;
      },
      1e-4));
  return {"dedispersion", kernel, [input, delays](tune::workload& work) {
            work.set("samples", copy_of(input)).set("delays", copy_of(delays));
          }};
}

/// Points in a cube of side 1, with a weight of -1 or 1 (or 1 alone).
std::vector<float> points_of(std::size_t count, bool signs) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> any(0, 1);
  std::vector<float> points;
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) points.push_back(any(random));
    points.push_back(signs && random() % 2 == 0 ? -1.0F : 1.0F);
  }
  return points;
}

slow_subject attraction(bool small) {
  const std::uint32_t count = small ? 8192 : 131072;
  const std::vector<float> bodies = points_of(count, false);
  auto kernel = make_kernel("attract_all", embedded::nbody_kernel, {count});
  kernel.parameter("block_size_x", {64, 128, 256, 512, 1024});
  kernel.parameter("tile_size_x", {1, 2, 4, 8}).parameter("inner_unroll", {1, 2, 4, 8, 16, 32});
  kernel.parameter("use_local", {0, 1}).parameter("load_width", {1, 4});
  kernel.divide_grid_x({"block_size_x", "tile_size_x"});
  kernel.arguments(tune::out<float>({count, 4}, "accelerations"), tune::in(bodies, "bodies"),
                   count);
  kernel.verify(spot_check(
      places_in(std::size_t{count} * 4, 4),
      [&](std::size_t place) {
        double sum = 0;
        for (std::size_t i = 0; i < 4 * std::size_t{count}; i += 4) {
          std::array<double, 3> away{};
          double square = 0.01;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            away[axis] = double{bodies[i + axis]} - bodies[place + axis];
            square += away[axis] * away[axis];
          }
          sum += bodies[i + 3] * away[0] / (square * std::sqrt(square));
        }
        return sum;
      },
      3e-2));
  return {"attraction", kernel,
          [bodies](tune::workload& work) { work.set("bodies", copy_of(bodies)); }};
}

slow_subject potentials(bool small) {
  const int side = small ? 64 : 256;
  const int count = small ? 256 : 4096;
  const auto edge = static_cast<std::size_t>(side);
  const float spacing = 1.0F / static_cast<float>(side);
  const std::vector<float> atoms = points_of(static_cast<std::size_t>(count), true);
  auto kernel = make_kernel("sum_potentials", embedded::coulomb_kernel, {side, side, side});
  kernel.parameter("block_size_x", {16, 32, 64, 128, 256});
  kernel.parameter("block_size_y", {1, 2, 4, 8, 16});
  kernel.parameter("tile_size_z", {1, 2, 4, 8, 16, 32});
  kernel.parameter("inner_unroll", {1, 2, 4, 8}).parameter("use_local", {0, 1});
  kernel.restrict("32 <= block_size_x * block_size_y <= 1024");
  kernel.restrict(fmt::format("block_size_x <= {}", side));
  kernel.divide_grid_z({"tile_size_z"});
  kernel.define("SIDE", side).define("ATOMS", count).define("ATOMS_AT_ONCE", 256);
  kernel.arguments(tune::out<float>({edge, edge, edge}, "potentials"), tune::in(atoms, "atoms"),
                   spacing);
  kernel.verify(spot_check(
      places_in(edge * edge * edge),
      [&](std::size_t place) {
        const std::array at{place % edge, place / edge % edge, place / edge / edge};
        double sum = 0;
        for (std::size_t i = 0; i < atoms.size(); i += 4) {
          double square = 0;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const double away = spacing * static_cast<double>(at[axis]) - atoms[i + axis];
            square += away * away;
          }
          sum += atoms[i + 3] / std::sqrt(square);
        }
        return sum;
      },
      3e-2));
  return {"potentials", kernel,
          [atoms](tune::workload& work) { work.set("atoms", copy_of(atoms)); }};
}

/// A matrix of rank 3, so that products of two are cheap: the sum of left[r][row] *
/// right[r][column].
struct thin_matrix {
  std::vector<float> left;
  std::vector<float> right;
  std::size_t side;

  thin_matrix(std::size_t of_side, unsigned seed) : side(of_side) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    for (std::size_t i = 0; i < 3 * side; ++i) {
      left.push_back(any(random));
      right.push_back(any(random));
    }
  }

  std::vector<float> elements() const {
    std::vector<float> all(side * side, 0.0F);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t i = 0; i < side; ++i) {
        for (std::size_t j = 0; j < side; ++j) {
          all[i * side + j] += left[r * side + i] * right[r * side + j];
        }
      }
    }
    return all;
  }
};

// Both are stored by k: a[k][m] and b[k][n], so c[n][m] is the sum of b.right[n] a.right[m] times
// the products of their left parts.
std::vector<float> product_of(const thin_matrix& a, const thin_matrix& b) {
  thin_matrix made = a;
  made.left.assign(3 * a.side, 0.0F);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t s = 0; s < 3; ++s) {
      double inner = 0;
      for (std::size_t k = 0; k < a.side; ++k) {
        inner += double{a.left[r * a.side + k]} * b.left[s * a.side + k];
      }
      for (std::size_t n = 0; n < a.side; ++n) {
        made.left[r * a.side + n] += static_cast<float>(inner * b.right[s * a.side + n]);
      }
    }
  }
  return made.elements();
}

slow_subject product(bool small) {
  const int side = small ? 256 : 4096;
  const auto edge = static_cast<std::size_t>(side);
  const thin_matrix a(edge, 4);
  const thin_matrix b(edge, 5);
  auto kernel = make_kernel("multiply", embedded::multiply_kernel, {side, side});
  for (const char* name : {"mwg", "nwg"}) kernel.parameter(name, {16, 32, 64, 128});
  kernel.parameter("kwg", {16, 32});
  for (const char* name : {"mdimc", "ndimc", "mdima", "ndimb"}) {
    kernel.parameter(name, {8, 16, 32});
  }
  kernel.parameter("kwi", {2, 8});
  for (const char* name : {"vwm", "vwn"}) kernel.parameter(name, {1, 2, 4, 8});
  for (const char* name : {"strm", "strn", "sa", "sb"}) kernel.parameter(name, {0, 1});
  for (const char* text :
       {"kwg % kwi == 0", "mwg % (mdimc * vwm) == 0", "nwg % (ndimc * vwn) == 0",
        "mwg % (mdima * vwm) == 0", "nwg % (ndimb * vwn) == 0",
        "kwg % (mdimc * ndimc // mdima) == 0", "kwg % (mdimc * ndimc // ndimb) == 0",
        "(sa * kwg * mwg + sb * kwg * nwg) * 4 <= 48 * 1024", "mdimc * ndimc <= 1024"}) {
    kernel.restrict(text);
  }
  kernel.work_group("mdimc", "ndimc");
  kernel.divide_grid_x({"mwg"}).divide_grid_y({"nwg"});
  kernel.define("SIZE", side);
  kernel.arguments(tune::out<float>({edge, edge}, "c"),
                   tune::in(copy_of(a.elements(), {edge, edge}), "a"),
                   tune::in(copy_of(b.elements(), {edge, edge}), "b"));
  kernel.answer(0, copy_of(product_of(a, b), {edge, edge}), {.absolute = 0.05, .relative = 1e-3});
  return {"product", kernel, [a, b, edge](tune::workload& work) {
            work.set("a", copy_of(a.elements(), {edge, edge}))
                .set("b", copy_of(b.elements(), {edge, edge}));
          }};
}

}  // namespace

std::vector<slow_subject> slow_subjects(bool small) {
  return {dedispersion(small), attraction(small), potentials(small), product(small)};
}

}  // namespace bench
