// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/context.hpp"

namespace tune {

/// The highest measured rates of a device.
struct device_peaks {
  /// The bytes that a copy on the device reads and writes in a second, for buffers larger than the
  /// cache. 0 for a CPU, whose copies use one thread and therefore do not limit kernels.
  double bytes_per_second = 0;
  /// Work with fewer bytes may stay in the cache, and is not limited by this rate.
  double least_bytes = 0;
};

/// Measures the peaks of a context's device by a few copies, which take milliseconds on a GPU. Only
/// the first call for a context measures; later ones return its result. Thread-safe; two threads
/// may both measure at first.
/// @throws device_error if there is no memory for the copies, or they fail
device_peaks peaks_of(const context& of);

/// Measures the peaks of a context's device again, because other work may have slowed the earlier
/// copies. Later calls of peaks_of return the higher rate. Thread-safe.
/// @throws device_error as peaks_of
device_peaks renew_peaks(const context& of);

}  // namespace tune
