// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/base/metric.hpp"

namespace tune {

/// The differences of right results from an answer, over the elements of one or several arrays that
/// are finite in both. A complex number is one element.
class accuracy {
 public:
  /// The ratio that is reported for results without any error, and the greatest.
  static constexpr double most_decibels = 350;

  /// The sums and maxima that the figures are computed from.
  struct sums {
    std::uint64_t elements = 0;
    double signal = 0;   ///< of the squares of the answer
    double noise = 0;    ///< of the squares of the errors
    double largest = 0;  ///< error
    double ulps = 0;     ///< the largest error in ULPs; of complex numbers, that of a part
  };

  accuracy() = default;
  /// Takes over sums that were computed elsewhere.
  explicit accuracy(const sums& of) noexcept : sums_(of) {}
  /// Adds the elements of other arrays.
  void add(const accuracy& other) noexcept;

  /// The number of compared elements.
  std::uint64_t elements() const noexcept { return sums_.elements; }
  /// The largest distance of an element from the answer.
  double largest_error() const noexcept { return sums_.largest; }
  /// The root of the mean square of the distances; 0 without elements.
  double rms_error() const noexcept;
  /// The signal-to-noise ratio in decibels; see most_decibels.
  double signal_to_noise() const noexcept;
  /// The largest distance in representable numbers of the type (ULPs).
  double ulps() const noexcept { return sums_.ulps; }

  /// The figures of a trial: "error", "error_rms", "snr" in dB, and "ulps". Unknown (NaN)
  /// without elements.
  std::vector<metric> metrics() const;

 private:
  sums sums_{};
};

/// True for the name of one of accuracy::metrics.
bool is_accuracy_metric(std::string_view name) noexcept;

/// Computes the accuracy of a result on the host. Of structs, nothing is compared.
/// @throws argument_error if the types or shapes differ
accuracy measure_accuracy(const array_layout& expected_layout, const void* expected,
                          const array_layout& got_layout, const void* got);

}  // namespace tune
