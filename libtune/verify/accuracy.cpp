// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/verify/comparison.hpp"
#include "libtune/verify/element_rule.hpp"

namespace tune {
namespace {

constexpr std::array names{"error", "error_rms", "snr", "ulps"};

template <class T>
accuracy::sums sums_of(const T* expected, const T* got, std::size_t elements) {
  accuracy::sums all;
  for (std::size_t i = 0; i < elements; ++i) {
    const double magnitude = detail::magnitude_of(expected[i]);
    const double distance = detail::distance_between(expected[i], got[i]);
    if (!std::isfinite(magnitude) || !std::isfinite(distance)) continue;
    ++all.elements;
    all.signal += magnitude * magnitude;
    if (distance == 0) continue;
    all.noise += distance * distance;
    all.largest = std::max(all.largest, distance);
    all.ulps = std::max(all.ulps, detail::ulps_between(expected[i], got[i]));
  }
  return all;
}

std::vector<std::byte> without_padding(const array_layout& layout, const void* elements) {
  const array_layout dense(layout.type(), layout.size());
  std::vector<std::byte> bytes(dense.bytes());
  detail::copy_elements(layout, elements, dense, bytes.data());
  return bytes;
}

}  // namespace

void accuracy::add(const accuracy& other) noexcept {
  sums_.elements += other.sums_.elements;
  sums_.signal += other.sums_.signal;
  sums_.noise += other.sums_.noise;
  sums_.largest = std::max(sums_.largest, other.sums_.largest);
  sums_.ulps = std::max(sums_.ulps, other.sums_.ulps);
}

double accuracy::rms_error() const noexcept {
  return sums_.elements == 0 ? 0 : std::sqrt(sums_.noise / static_cast<double>(sums_.elements));
}

double accuracy::signal_to_noise() const noexcept {
  return std::min(decibels_of(sums_.signal, sums_.noise), most_decibels);
}

std::vector<metric> accuracy::metrics() const {
  const auto known = [this](double value) { return sums_.elements == 0 ? std::nan("") : value; };
  return {{names[0], known(largest_error()), ""},
          {names[1], known(rms_error()), ""},
          {names[2], known(signal_to_noise()), "dB"},
          {names[3], known(ulps()), ""}};
}

bool is_accuracy_metric(std::string_view name) noexcept {
  return std::ranges::find(names, name) != names.end();
}

accuracy measure_accuracy(const array_layout& expected_layout, const void* expected,
                          const array_layout& got_layout, const void* got) {
  if (expected_layout.type() != got_layout.type() || expected_layout.size() != got_layout.size()) {
    throw argument_error(fmt::format(
        "the answer is {} of {}, the result {} of {}", to_string(expected_layout.size()),
        expected_layout.type().name(), to_string(got_layout.size()), got_layout.type().name()));
  }
  const auto type = expected_layout.type().dtype();
  if (!type) return {};
  const std::vector<std::byte> want = without_padding(expected_layout, expected);
  const std::vector<std::byte> have = without_padding(got_layout, got);
  return accuracy(visit_dtype(*type, [&]<class T>() {
    return sums_of(reinterpret_cast<const T*>(want.data()),  // NOLINT: aligned as by operator new
                   reinterpret_cast<const T*>(have.data()),  // NOLINT
                   expected_layout.size().elements());
  }));
}

}  // namespace tune
