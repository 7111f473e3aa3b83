// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/coordinates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
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

/// Empty if a candidate is no number.
std::vector<double> numbers_of(const std::vector<value>& candidates) {
  std::vector<double> numbers;
  for (const value& candidate : candidates) {
    const auto number = number_of(candidate);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

/// The logarithms, where numbers are positive and far apart.
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
    // Halves, because the difference of two doubles may be too large for one.
    const double part = (number / 2 - least / 2) / (most / 2 - least / 2);
    places.push_back(static_cast<float>(part));
  }
  return places;
}

/// How far each number is from being a power of two: the logarithm of its odd part. Empty where
/// that says nothing, because all are equally far or some are no positive integers.
std::vector<double> oddness_of(const std::vector<double>& numbers) {
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
    axes_.push_back({i, axis::number, from_0_to_1(spread(numbers))});
    if (auto oddness = oddness_of(numbers); !oddness.empty()) {
      axes_.push_back({i, axis::oddness, from_0_to_1(std::move(oddness))});
    }
  }
}

float coordinates::distance(std::size_t axis, std::size_t one, std::size_t other) const {
  const auto& on = axes_[axis];
  if (on.kind == axis::category) return one == other ? 0.0F : 1.0F;
  return std::abs(on.places[one] - on.places[other]);
}

float coordinates::oddness(std::span<const std::uint32_t> point) const {
  float sum = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].kind == axis::oddness) sum += axes_[i].places[point[i]];
  }
  return sum;
}

void coordinates::write(std::size_t index, std::span<std::uint32_t> point) const {
  const std::vector<std::size_t> choice = space_.choice(index);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    point[i] = static_cast<std::uint32_t>(choice[axes_[i].parameter]);
  }
}

}  // namespace tune::detail
