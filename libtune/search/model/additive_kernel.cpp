// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/additive_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

namespace tune::detail {
namespace {

std::optional<double> number_of(const value& v) {
  struct {
    std::optional<double> operator()(std::monostate) const { return std::nullopt; }
    std::optional<double> operator()(bool b) const { return b ? 1.0 : 0.0; }
    std::optional<double> operator()(std::int64_t i) const { return static_cast<double>(i); }
    std::optional<double> operator()(std::uint64_t i) const { return static_cast<double>(i); }
    std::optional<double> operator()(double d) const {
      return std::isfinite(d) ? std::optional(d) : std::nullopt;
    }
    std::optional<double> operator()(const std::string&) const { return std::nullopt; }
  } convert;
  return std::visit(convert, v);
}

/// Converts candidates to numbers; empty if one of them is not a number.
std::vector<double> numbers_of(const std::vector<value>& candidates) {
  std::vector<double> numbers;
  for (const value& candidate : candidates) {
    const auto number = number_of(candidate);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

/// Returns the logarithms if the numbers are positive and far apart; else the numbers.
std::vector<double> spread(std::vector<double> numbers) {
  constexpr double far_apart = 4;
  const auto [least, most] = std::ranges::minmax(numbers);
  if (least > 0 && most / least >= far_apart) {
    for (double& number : numbers) number = std::log(number);
  }
  return numbers;
}

std::vector<float> from_0_to_1(std::vector<double> numbers) {
  const auto [least, most] = std::ranges::minmax(numbers);
  std::vector<float> places;
  for (const double number : numbers) {
    // Halves, because the difference of two doubles may overflow.
    const double part = (number / 2 - least / 2) / (most / 2 - least / 2);
    places.push_back(static_cast<float>(part));
  }
  return places;
}

/// Returns the logarithm of each number's odd part. Empty if that is useless, because all are equal
/// or some numbers are not positive integers.
std::vector<double> distances_to_powers_of_two(const std::vector<double>& numbers) {
  constexpr double exact = 0x1p53;
  std::vector<double> all;
  for (const double number : numbers) {
    if (!(number >= 1) || number > exact || number != std::floor(number)) return {};
    auto odd = static_cast<std::uint64_t>(number);
    odd >>= std::countr_zero(odd);
    all.push_back(std::log2(static_cast<double>(odd)));
  }
  const auto [least, most] = std::ranges::minmax(all);
  return least < most ? all : std::vector<double>();
}

/// Returns the logarithms of sizes: positive numbers, the largest of which is at least three times
/// the smallest. Empty for all other candidates.
std::vector<double> logarithms_of_sizes(const std::vector<value>& candidates) {
  constexpr double least_range = 3;
  std::vector<double> numbers = numbers_of(candidates);
  if (numbers.empty()) return {};
  const auto [least, most] = std::ranges::minmax(numbers);
  if (!(least > 0) || most / least < least_range) return {};
  for (double& number : numbers) number = std::log(number);
  return numbers;
}

float matern(float distance) {
  const float scaled = std::sqrt(5.0F) * distance;
  return (1 + scaled + scaled * scaled / 3) * std::exp(-scaled);
}

additive_kernel::settings first_settings(std::size_t axes) {
  additive_kernel::settings with;
  with.scales.assign(axes, 1.0F);
  return with;
}

std::vector<std::vector<std::uint32_t>> all_candidates(const coordinates& places) {
  std::vector<std::vector<std::uint32_t>> all(places.axes());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].resize(places.candidates(i));
    std::iota(all[i].begin(), all[i].end(), 0U);
  }
  return all;
}

}  // namespace

coordinates::coordinates(search_space space) : space_(std::move(space)) {
  const auto& parameters = space_.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t count = parameters[i].candidates.size();
    if (count < 2) continue;
    const std::vector<double> numbers = numbers_of(parameters[i].candidates);
    if (numbers.empty()) {
      axes_.push_back({i, axis::category, std::vector<float>(count, 0.0F)});
      continue;
    }
    add_axis({i, axis::number, from_0_to_1(spread(numbers)), i});
    if (auto distances = distances_to_powers_of_two(numbers); !distances.empty()) {
      add_axis({i, axis::power, from_0_to_1(std::move(distances)), i});
    }
  }
  add_products();
}

// Keeps the tables of kernels small, which grow with the square of an axis.
void coordinates::share_places(axis& made, float steps) {
  std::vector<float> places = made.places;
  for (float& place : places) place = std::round(place * steps) / steps;
  made.places = places;
  std::ranges::sort(made.places);
  made.places.erase(std::unique(made.places.begin(), made.places.end()), made.places.end());
  for (const float place : places) {
    const auto found = std::ranges::lower_bound(made.places, place);
    made.candidate_of.push_back(static_cast<std::uint32_t>(found - made.places.begin()));
  }
}

void coordinates::add_axis(axis made) {
  constexpr std::size_t most = 512;
  if (made.places.size() > most) share_places(made, most - 1);
  axes_.push_back(std::move(made));
}

// Nearly equal products share a place.
void coordinates::add_products() {
  constexpr float steps = 63;
  const auto& parameters = space_.parameters();
  std::size_t before = 0;
  std::vector<double> logs_before;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<double> logs = logarithms_of_sizes(parameters[i].candidates);
    if (logs.empty()) continue;
    std::vector<double> products;
    for (const double one : logs_before) {
      for (const double other : logs) products.push_back(one + other);
    }
    if (!products.empty()) {
      axis made{before, axis::number, from_0_to_1(std::move(products)), i};
      share_places(made, steps);
      axes_.push_back(std::move(made));
    }
    before = i;
    logs_before = std::move(logs);
  }
}

float coordinates::distance(std::size_t axis, std::size_t one, std::size_t other) const {
  const auto& on = axes_[axis];
  if (on.kind == axis::category) return one == other ? 0.0F : 1.0F;
  return std::abs(on.places[one] - on.places[other]);
}

float coordinates::power_distance(std::span<const std::uint32_t> point) const {
  float sum = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].kind == axis::power) sum += axes_[i].places[point[i]];
  }
  return sum;
}

void coordinates::write(std::size_t index, std::span<std::uint32_t> point) const {
  const std::vector<std::size_t> choice = space_.choice(index);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const axis& on = axes_[i];
    point[i] = static_cast<std::uint32_t>(choice[on.parameter]);
    if (on.candidate_of.empty()) continue;
    if (on.factor == on.parameter) {
      point[i] = on.candidate_of[choice[on.parameter]];
      continue;
    }
    const std::size_t factors = space_.parameters()[on.factor].candidates.size();
    point[i] = on.candidate_of[choice[on.parameter] * factors + choice[on.factor]];
  }
}

additive_kernel::additive_kernel(const coordinates& places)
    : additive_kernel(places, first_settings(places.axes())) {}

additive_kernel::additive_kernel(const coordinates& places, settings with)
    : additive_kernel(places, std::move(with), all_candidates(places)) {}

additive_kernel::additive_kernel(const coordinates& places, settings with,
                                 const std::vector<std::vector<std::uint32_t>>& of)
    : with_(std::move(with)) {
  const auto axes = static_cast<float>(places.axes());
  const float pairs = axes * (axes - 1) / 2;
  const float pair = pairs > 0 ? with_.pair : 0;
  const float sum = with_.single + pair + 1;
  single_ = axes > 0 ? with_.single / sum / axes : 0;
  pair_ = pairs > 0 ? pair / sum / pairs : 0;
  all_ = axes > 0 ? 1 / sum : 1;
  for (std::size_t i = 0; i < places.axes(); ++i) {
    axis_table table{of[i].size(), {}};
    for (const std::uint32_t one : of[i]) {
      for (const std::uint32_t other : of[i]) {
        table.alike.push_back(matern(places.distance(i, one, other) * with_.scales[i]));
      }
    }
    tables_.push_back(std::move(table));
  }
}

float additive_kernel::operator()(const std::uint32_t* one, const std::uint32_t* other) const {
  float sum = 0;
  float squares = 0;
  float product = 1;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const axis_table& table = tables_[i];
    const float alike = table.alike[one[i] * table.candidates + other[i]];
    sum += alike;
    squares += alike * alike;
    product *= alike;
  }
  // Sums over all pairs at once: (sum squared - sum of squares) / 2.
  return single_ * sum + pair_ * 0.5F * (sum * sum - squares) + all_ * product;
}

void additive_kernel::compare(const std::uint32_t* one,
                              const std::vector<std::vector<std::uint32_t>>& others,
                              std::span<float> results) const {
  std::vector<float> sums(results.size(), 0.0F);
  std::vector<float> squares(results.size(), 0.0F);
  std::ranges::fill(results, 1.0F);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const float* table = tables_[i].alike.data() + one[i] * tables_[i].candidates;
    const std::uint32_t* candidates = others[i].data();
    for (std::size_t c = 0; c < results.size(); ++c) {
      const float alike = table[candidates[c]];
      sums[c] += alike;
      squares[c] += alike * alike;
      results[c] *= alike;
    }
  }
  for (std::size_t c = 0; c < results.size(); ++c) {
    results[c] =
        single_ * sums[c] + pair_ * 0.5F * (sums[c] * sums[c] - squares[c]) + all_ * results[c];
  }
}

}  // namespace tune::detail
