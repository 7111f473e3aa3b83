// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/context.hpp"

namespace tune {

/// The highest rates of a device, as measured on it.
struct device_peaks {
  /// Bytes that a copy on the device reads and writes in a second, where it is larger than the
  /// cache. 0 for a CPU, whose copies are made by one thread and so limit no kernel.
  double bytes_per_second = 0;
  /// Work of fewer bytes may stay in the cache, where this limit is none.
  double least_bytes = 0;
};

/// Measures the peaks of a context's device by a few copies, which take milliseconds on a GPU. The
/// first call for a context does; later ones return what it has found. Thread-safe; two threads may
/// both measure at first.
/// @throws device_error if there is no memory for the copies, or they fail
device_peaks peaks_of(const context& of);

/// Measures the peaks of a context's device again, since other work may have slowed the copies that
/// were made before. Later calls of peaks_of return the higher rate of both. Thread-safe.
/// @throws device_error as peaks_of does
device_peaks renew_peaks(const context& of);

}  // namespace tune
