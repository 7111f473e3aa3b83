// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/devices.hpp"

namespace tune {

/// Which devices an application can use. The default is all of them.
using device_filter = std::function<bool(const device&)>;

/// The settings of select_device and create_some_context.
struct selection {
  device_filter filter = {};  ///< the devices to choose from; empty: all
  /// Whether to ask on the terminal where several devices remain and nothing else decides.
  bool interactive = false;
};

/// The devices that pass the filter and the environment, in the order of all_devices():
///   LIBTUNE_DEVICE   an index into the devices that pass the filter; leaves that one
///   CUDA_DEVICE      an index into the CUDA devices that pass the filter, where LIBTUNE_DEVICE is
///                    unset; leaves that one
///   PYOPENCL_CTX     p or p:d, a platform or one device of it, where neither is set
/// @throws environment_error if the variable cannot be read, no_device_error if it names a device
///         that is not there; the text lists those that are
std::vector<device> candidate_devices(const device_filter& filter = {});

/// The first of the best candidates: GPUs before accelerators before all else.
/// @throws no_device_error if there is none, else as candidate_devices
device select_device(const selection& wanted = {});

/// A context on the selected device.
context create_some_context(const selection& wanted = {});

/// The same over a given inventory.
std::vector<device> candidate_devices(const inventory& devices, const device_filter& filter);
/// The first of the best of some devices, as select_device ranks them.
/// @throws no_device_error if there is none
device best_device(const std::vector<device>& candidates);

}  // namespace tune
