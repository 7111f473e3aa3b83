// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// A time with three significant digits and a fitting unit: "53.1 us", "1.20 ms". NaN and infinity
/// have no unit: "nan", "inf".
std::string format_run_time(run_time time);

/// Whole minutes and seconds, or hours too, rounded down: "0:07", "1:02:03". A negative time, which
/// no clock should give, is shown as zero.
std::string format_clock(std::chrono::nanoseconds time);

/// Separates the fields in which configurations differ, which a table shows, from fields that are
/// equal in all of them. All configurations have the same fields.
class varying_fields {
 public:
  varying_fields() = default;
  /// Adds the configurations of these trials, with any outcome.
  explicit varying_fields(std::span<const trial> trials);

  /// Adds one more configuration. A field that varies once stays varying.
  void add(const std::vector<named_value>& configuration);

  /// The fields of a configuration that vary. All fields with fewer than two configurations.
  std::vector<named_value> varying(const std::vector<named_value>& configuration) const;
  /// The fields that are the same in all configurations; none with fewer than two configurations.
  std::vector<named_value> common() const;

 private:
  std::vector<named_value> first_;
  std::vector<bool> varies_;  // one for each field of the first
  std::size_t added_ = 0;
};

/// A metric with four significant digits and the unit: "812.5 GFLOP/s", "64"; "-" for NaN.
std::string format_metric(const metric& item);
/// The metrics as text: "gflops=812.5 GFLOP/s, registers=64"; empty without metrics.
std::string format_metrics(const std::vector<metric>& metrics);
/// The names of all metrics of some trials, in the order of their first occurrence.
std::vector<std::string> metric_names(std::span<const trial> trials);

/// A configuration and its time: "53.1 us (wgs=64)", or only the time without fields.
std::string format_result(run_time time, const std::vector<named_value>& fields);

}  // namespace tune
