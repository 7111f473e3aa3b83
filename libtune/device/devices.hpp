// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"

namespace tune {

/// The devices of this machine as selection sees them. A plain value, so that selection can be
/// tested with devices that are not there.
struct inventory {
  struct platform {
    std::string backend;          ///< "CUDA", "OpenCL"
    std::vector<device> devices;  ///< in the driver's order
  };
  /// CUDA's, then OpenCL's in the loader's order; those without devices keep their place.
  std::vector<platform> platforms;

  /// All devices, in the order of their index: platform by platform.
  std::vector<device> all() const;
  /// The platforms of one backend.
  std::vector<platform> of(std::string_view backend) const;
};

/// Returns the devices of this machine, without any filter.
inventory take_inventory();

/// True if a backend can be used here, and if not, why.
struct backend_status {
  std::string name;         ///< "CUDA", "OpenCL"
  bool available = false;   ///< it offers at least one device
  std::string reason;       ///< why it is not available; empty if it is
  std::size_t devices = 0;  ///< how many it offers, before any filter
};

/// Every backend that libtune knows, those that this library was built without included.
/// Thread-safe; never throws for an absent driver.
std::vector<backend_status> backends();

/// Every device of every backend, in the order that LIBTUNE_DEVICE counts them. Thread-safe.
std::vector<device> all_devices();

/// Which devices an application can use. The default is all of them.
using device_filter = std::function<bool(const device&)>;

/// The settings of select_device and create_some_context.
struct selection {
  device_filter filter = {};  ///< the devices to choose from; empty: all
  /// True to ask on the terminal where several devices remain and nothing else decides.
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

/// The devices that a text means, to compile for and not to run on:
///
///   "cuda sm_90"  NVIDIA devices of this generation; NVRTC has to be there, a GPU need not
///   "cuda"        the same, sm_75 and sm_90, which differ most
///   "opencl"      each OpenCL device of this machine
///
/// Templates that are constructed with a context of one compile their kernels; what would need the
/// device is a device_error.
/// @throws no_device_error if there is none, with what is missing; argument_error for another text
std::vector<device> compile_targets(std::string_view target);

}  // namespace tune
