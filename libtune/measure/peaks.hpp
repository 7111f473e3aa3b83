// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include "libtune/device/context.hpp"
#include "libtune/measure/work.hpp"

namespace tune {

/// Work of fewer operations is not compared with a peak: it takes less time than a launch.
inline constexpr double least_operations = 1e7;

/// The highest measured rates of a device. A rate of 0 is unknown, or was not wanted.
struct device_peaks {
  /// The bytes that the device reads and writes in a second, beyond its cache: in a copy, or on a
  /// CPU in the faster one of a copy and a sum by all cores.
  double bytes_per_second = 0;
  /// Work with fewer bytes may stay in the cache, and is not limited by this rate.
  double least_bytes = 0;
  /// The operations of the wanted arithmetic in a second; a multiply-add is two.
  double operations_per_second = 0;
};

/// Keeps the peaks of one device between processes. Thread-safe. Failures are logged, not thrown.
class peak_store {
 public:
  peak_store() = default;
  virtual ~peak_store() = default;
  peak_store(const peak_store&) = delete;
  peak_store& operator=(const peak_store&) = delete;

  /// Returns a kept rate per second; empty without one. @param of  "memory", or the name of an
  /// arithmetic
  virtual std::optional<double> find(std::string_view of) = 0;
  /// Keeps a rate per second, above zero; replaces a lower one.
  virtual void keep(std::string_view of, double rate) = 0;
};

/// The peaks that a caller needs.
struct wanted_peaks {
  bool memory = true;                      ///< bytes_per_second
  arithmetic by = arithmetic::undeclared;  ///< operations_per_second of this arithmetic
  peak_store* kept = nullptr;  ///< read before measuring, and given what is measured; may be null
};

/// Returns the wanted peaks of a context's device. Each is read or measured by the first call for a
/// context, later ones return it. Measuring takes milliseconds on a GPU, and compiles a kernel for
/// anything but a GPU's memory. A peak that cannot be measured is 0, and one log line has the
/// reason: the device lacks the arithmetic or the memory for the copies, or does not run the
/// kernel. Arithmetic by tensor units has a peak on CUDA devices from compute capability 8.0 to
/// 8.9, on 9.0 and on 12.0 and later. Thread-safe; two threads may both measure at first.
device_peaks peaks_of(const context& of, const wanted_peaks& wanted = {});

/// Measures the wanted peaks again, because other work may have slowed the earlier runs. Later
/// calls of peaks_of return the higher rates. Thread-safe.
device_peaks renew_peaks(const context& of, const wanted_peaks& wanted = {});

}  // namespace tune
