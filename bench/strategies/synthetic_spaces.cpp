// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/strategies/synthetic_spaces.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace bench {
namespace {

using tune::recorded_configuration;
using tune::recorded_space;
using tune::value;
using numbers = std::vector<std::int64_t>;

/// The same number for the same words: fixed noise for each configuration.
double hashed(std::uint64_t seed, std::uint64_t word) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15 + word;
  for (int i = 0; i < 2; ++i) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9;
    x ^= x >> 27;
    x *= 0x94d049bb133111eb;
    x ^= x >> 31;
  }
  return static_cast<double>(x >> 11) * 0x1p-53;
}

struct imagined_device {
  explicit imagined_device(std::uint64_t seed)
      : units(20 + 100 * hashed(seed, 1)),
        registers(hashed(seed, 2) < 0.5 ? 65536 : 131072),
        local_bytes(hashed(seed, 3) < 0.5 ? 49152 : 65536),
        warp(hashed(seed, 4) < 0.6 ? 32 : 64),
        threads(hashed(seed, 5) < 0.5 ? 1536 : 2048),
        gflops(8e3 + 3e4 * hashed(seed, 6)),
        gbytes(400 + 1500 * hashed(seed, 7)),
        hiding(0.2 + 0.5 * hashed(seed, 8)) {}

  double units, registers, local_bytes, warp, threads, gflops, gbytes;
  double hiding;  // the occupancy that hides all latency
};

/// The demands of a configuration, and the time of its work with the whole device.
struct demand {
  double group_items = 1;
  double registers = 32;  // registers of one item
  double local_bytes = 0;
  double groups = 1;
  double gflop = 0;
  double gbyte = 0;
  double code = 1;  // the amount of code to compile
};

std::optional<double> time_ms(const imagined_device& device, const demand& d) {
  if (d.group_items > 1024 || d.local_bytes > device.local_bytes || d.registers > 255) return {};
  const double warps = std::ceil(d.group_items / device.warp);
  const double padded = warps * device.warp;
  const double by_registers = std::floor(device.registers / (padded * d.registers));
  const double by_local =
      d.local_bytes > 0 ? std::floor(2 * device.local_bytes / d.local_bytes) : 32;
  const double resident =
      std::min({32.0, by_registers, by_local, std::floor(device.threads / padded)});
  if (resident < 1) return {};
  const double occupancy = resident * padded / device.threads;
  const double hidden = std::min(1.0, std::pow(occupancy / device.hiding, 0.7));
  const double waves = d.groups / (device.units * resident);
  const double quantised = std::min(std::ceil(waves) / waves, 4.0);
  const double lanes = padded / d.group_items;
  const double compute = d.gflop / device.gflops * lanes;
  const double memory = d.gbyte / device.gbytes;
  const double both = std::max(compute, memory) + 0.3 * std::min(compute, memory);
  return 1e3 * both / hidden * (0.4 + 0.6 * quantised) + 0.005;
}

/// Collects a space from nested choices.
class maker {
 public:
  maker(std::string name, std::uint64_t seed, std::vector<std::pair<std::string, numbers>> axes)
      : name_(std::move(name)), seed_(seed), axes_(std::move(axes)), chosen_(axes_.size()) {}

  using judge = std::function<std::optional<demand>(const numbers&)>;

  /// judge returns empty for combinations that a restriction forbids.
  recorded_space make(const judge& judge) {
    const imagined_device device(seed_);
    visit(0, [&] {
      if (const auto asked = judge(chosen_)) add(time_ms(device, *asked), asked->code);
    });
    return finish();
  }

  recorded_space make_directly(const std::function<std::optional<double>(const numbers&)>& time) {
    visit(0, [&] { add(time(chosen_), 1); });
    return finish();
  }

 private:
  void visit(std::size_t depth, const std::function<void()>& leaf) {
    if (depth == axes_.size()) return leaf();
    for (const std::int64_t candidate : axes_[depth].second) {
      chosen_[depth] = candidate;
      visit(depth + 1, leaf);
    }
  }

  void add(std::optional<double> ms, double code) {
    recorded_configuration one;
    for (const std::int64_t number : chosen_) one.values.emplace_back(number);
    const double luck = hashed(seed_ + 99, recorded_.size());
    if (ms) {
      one.result.score_ms = *ms * (1 + 0.06 * (luck - 0.5));
      one.result.benchmark_ms = 50 + 32 * *one.result.score_ms;
    } else {
      one.result.failure = "over a limit";
    }
    one.result.compile_ms = 200 + 60 * code;
    recorded_.push_back(std::move(one));
  }

  recorded_space finish() {
    std::vector<tune::parameter> parameters;
    for (const auto& [name, candidates] : axes_) {
      tune::parameter made{name, {}};
      for (const std::int64_t candidate : candidates) made.candidates.emplace_back(candidate);
      parameters.push_back(std::move(made));
    }
    return {fmt::format("{}_{}", name_, seed_), std::move(parameters), std::move(recorded_)};
  }

  std::string name_;
  std::uint64_t seed_;
  std::vector<std::pair<std::string, numbers>> axes_;
  numbers chosen_;
  std::vector<recorded_configuration> recorded_;
};

numbers steps(std::int64_t first, std::int64_t last, std::int64_t step) {
  numbers all;
  for (std::int64_t i = first; i <= last; i += step) all.push_back(i);
  return all;
}

recorded_space matrix_product(std::uint64_t seed) {
  maker space("product", seed,
              {{"tile_m", {16, 32, 64, 128}},
               {"tile_n", {16, 32, 64, 128}},
               {"tile_k", {16, 32}},
               {"items_m", {8, 16, 32}},
               {"items_n", {8, 16, 32}},
               {"vector_m", {1, 2, 4, 8}},
               {"vector_n", {1, 2, 4, 8}},
               {"local_a", {0, 1}},
               {"local_b", {0, 1}}});
  return space.make([seed](const numbers& c) -> std::optional<demand> {
    const auto m = static_cast<double>(c[0]), n = static_cast<double>(c[1]);
    const auto k = static_cast<double>(c[2]);
    if (c[0] % (c[3] * c[5]) != 0 || c[1] % (c[4] * c[6]) != 0) return {};
    const double per_m = m / static_cast<double>(c[3]), per_n = n / static_cast<double>(c[4]);
    const double wanted = hashed(seed, 20) < 0.5 ? 4 : 2;
    const auto misfit = [&](std::int64_t v) {
      return 1 + 0.12 * std::abs(std::log2(static_cast<double>(v) / wanted));
    };
    demand d;
    d.group_items = static_cast<double>(c[3] * c[4]);
    d.registers = 24 + per_m * per_n * 1.1 + 2 * (per_m + per_n);
    d.local_bytes = 4 * k * ((c[7] != 0 ? m : 0) + (c[8] != 0 ? n : 0));
    d.groups = std::ceil(2048 / m) * std::ceil(2048 / n);
    const double loads = 1 + (1 / per_m + 1 / per_n) * (2 - 0.7 * static_cast<double>(c[7] + c[8]));
    d.gflop = 17.2 * loads * misfit(c[5]) * misfit(c[6]) * (c[2] == 32 ? 0.97 : 1.0);
    d.gbyte = 34.4 * ((c[7] != 0 ? 1 : 1.6) / n + (c[8] != 0 ? 1 : 1.6) / m);
    d.code = per_m * per_n / 4;
    return d;
  });
}

recorded_space stencil(std::uint64_t seed) {
  numbers widths{1, 2, 4, 8, 16};
  for (const std::int64_t width : steps(32, 512, 32)) widths.push_back(width);
  maker space("stencil", seed,
              {{"block_x", widths},
               {"block_y", {1, 2, 4, 8, 16, 32}},
               {"tile_x", steps(1, 5, 1)},
               {"tile_y", steps(1, 5, 1)},
               {"time_tile", {1, 2, 3, 4, 6, 8}},
               {"local_power", {0, 1}}});
  return space.make([](const numbers& c) -> std::optional<demand> {
    const auto bx = static_cast<double>(c[0]), by = static_cast<double>(c[1]);
    const auto t = static_cast<double>(c[4]);
    const double width = bx * static_cast<double>(c[2]), height = by * static_cast<double>(c[3]);
    if (bx * by < 32 || bx * by > 1024) return {};
    if (width <= 2 * t || height <= 2 * t) return {};
    const double useful = (width - 2 * t) * (height - 2 * t) / (width * height);
    demand d;
    d.group_items = bx * by;
    d.registers = 20 + 5 * static_cast<double>(c[2] * c[3]);
    d.local_bytes = width * height * 4 * (c[5] != 0 ? 3 : 2);
    d.groups = 4096.0 * 4096 / ((width - 2 * t) * (height - 2 * t));
    d.gflop = 4096.0 * 4096 * 15e-9 * 24 / useful * (1 + 0.5 / static_cast<double>(c[2] * c[3]));
    const double coalesced = std::min(1.0, std::pow(width / 32, 0.8));
    d.gbyte = 4096.0 * 4096 * 4e-9 * 24 / t / useful * (c[5] != 0 ? 2 : 2.5) / coalesced;
    d.code = t * static_cast<double>(c[2] * c[3]) / 3;
    return d;
  });
}

recorded_space reduction(std::uint64_t seed) {
  maker space("reduction", seed,
              {{"block", steps(32, 1024, 32)},
               {"vector", {1, 2, 4, 8}},
               {"groups", {32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}},
               {"unroll", {1, 2, 4, 8, 16}},
               {"shuffle", {0, 1}},
               {"order", {0, 1}}});
  const double latency = 0.5 + 2 * hashed(seed, 30);
  return space.make([latency](const numbers& c) -> std::optional<demand> {
    const auto block = static_cast<double>(c[0]), vector = static_cast<double>(c[1]);
    const auto unroll = static_cast<double>(c[3]);
    demand d;
    d.group_items = block;
    d.registers = 16 + 3 * vector * std::sqrt(unroll);
    d.local_bytes = c[4] != 0 ? 128 : 4 * block;
    d.groups = static_cast<double>(c[2]);
    const double in_flight = std::min(1.0, 0.35 + 0.22 * std::log2(vector * unroll));
    const double parallel = std::clamp(std::pow(block * d.groups / 160000, 0.8), 0.1, 1.0);
    d.gbyte = 3.2 / in_flight / parallel * (c[5] != 0 && vector > 2 ? 1.08 : 1.0);
    d.gflop = latency * 1e-3 * d.groups * std::log2(block) * (c[4] != 0 ? 0.6 : 1.0);
    d.code = vector * unroll / 8;
    return d;
  });
}

/// A space unlike a kernel: effects of single parameters and of pairs, in no order.
recorded_space interactions(std::uint64_t seed) {
  std::vector<std::pair<std::string, numbers>> axes;
  const numbers sizes{2, 8, 4, 6, 3, 2, 5, 2};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    axes.emplace_back(fmt::format("p{}", i), steps(1, sizes[i], 1));
  }
  maker space("interactions", seed, std::move(axes));
  return space.make_directly([seed](const numbers& c) -> std::optional<double> {
    const auto word = [](std::size_t a, std::int64_t x, std::size_t b, std::int64_t y) {
      return ((a * 64 + static_cast<std::uint64_t>(x)) * 64 + b) * 64 +
             static_cast<std::uint64_t>(y) + 1000;
    };
    double sum = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      sum += 0.6 * hashed(seed, word(i, c[i], i, 0));
      for (std::size_t j = i + 1; j < c.size(); ++j) {
        if (hashed(seed, word(i, 0, j, 0)) > 0.3) continue;
        const double effect = hashed(seed, word(i, c[i], j, c[j]));
        if (effect > 0.97) return {};
        sum += 0.4 * effect;
      }
    }
    return 0.1 * std::exp(sum);
  });
}

/// A space with hardly any gain: a kernel that is limited by a bus, measured with noise.
recorded_space flat(std::uint64_t seed) {
  maker space("flat", seed,
              {{"block", steps(32, 1024, 32)},
               {"vector", {1, 2, 4, 8}},
               {"unroll", {1, 2, 4, 8}},
               {"stride", {1, 2, 3, 4, 5, 6, 7, 8}}});
  return space.make_directly([seed](const numbers& c) -> std::optional<double> {
    const auto effect = [&](std::uint64_t of, std::int64_t at) {
      return 0.02 * hashed(seed, 1000 * of + static_cast<std::uint64_t>(at));
    };
    return 2 + effect(1, c[0]) + effect(2, c[1]) + effect(3, c[2]) + effect(4, c[3]);
  });
}

}  // namespace

std::vector<recorded_space> synthetic_spaces(std::uint64_t seed) {
  return {matrix_product(seed), stencil(seed), reduction(seed), interactions(seed), flat(seed)};
}

}  // namespace bench
