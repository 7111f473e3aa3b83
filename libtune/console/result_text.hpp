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

/// A time with three significant digits and a fitting unit: "53.1 us", "1.20 ms". What is not a
/// time has no unit: "nan", "inf".
std::string format_run_time(run_time time);

/// Whole minutes and seconds, or hours too, rounded down: "0:07", "1:02:03". A negative time, which
/// no clock should make, is shown as none.
std::string format_clock(std::chrono::nanoseconds time);

/// Tells the fields in which configurations differ, which are worth showing, from those that are
/// the same in all of them, which are noise in a table. All the configurations have the same
/// fields.
class varying_fields {
 public:
  varying_fields() = default;
  /// Of the configurations of these trials, whatever became of them.
  explicit varying_fields(std::span<const trial> trials);

  /// One more configuration. What has once varied goes on varying.
  void add(const std::vector<named_value>& configuration);

  /// The fields of a configuration that vary. All of them while fewer than two configurations have
  /// been added, as nothing can be said yet.
  std::vector<named_value> varying(const std::vector<named_value>& configuration) const;
  /// The fields that are the same in all configurations; none while fewer than two were added.
  std::vector<named_value> common() const;

 private:
  std::vector<named_value> first_;
  std::vector<bool> varies_;  // for each field of the first
  std::size_t added_ = 0;
};

/// Four significant digits and the unit: "812.5 GFLOP/s", "64"; "-" for NaN.
std::string format_metric(const metric& item);
/// "gflops=812.5 GFLOP/s, registers=64"; empty if there are none.
std::string format_metrics(const std::vector<metric>& metrics);
/// The names of all metrics of some trials, in the order in which they first come.
std::vector<std::string> metric_names(std::span<const trial> trials);

/// A configuration and its time: "53.1 us (wgs=64)", or the time alone if there is no field.
std::string format_result(run_time time, const std::vector<named_value>& fields);

}  // namespace tune
