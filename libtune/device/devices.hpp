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

/// The devices of this machine for selection. A plain value, so that selection can be tested with
/// devices that do not exist.
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

/// The state of a backend on this machine.
struct backend_status {
  std::string name;         ///< "CUDA", "OpenCL"
  bool available = false;   ///< true if it offers at least one device
  std::string reason;       ///< the reason if it is not available; else empty
  std::size_t devices = 0;  ///< the number of devices it offers, before any filter
};

/// Every backend that libtune knows, including those that this library was built without.
/// Thread-safe; a missing driver is not an error.
std::vector<backend_status> backends();

/// Every device of every backend, in the order of the indices of LIBTUNE_DEVICE. Thread-safe.
std::vector<device> all_devices();

/// Selects the devices that an application can use. An empty function selects all.
using device_filter = std::function<bool(const device&)>;

/// The settings of select_device and create_some_context.
struct selection {
  device_filter filter = {};  ///< selects from the devices; empty: all
  /// True to ask on the terminal where several devices remain and nothing else decides.
  bool interactive = false;
};

/// Returns the devices that pass the filter and the environment, in the order of all_devices():
///   LIBTUNE_DEVICE   an index into the devices that pass the filter; selects one
///   CUDA_DEVICE      an index into the CUDA devices that pass the filter; selects one. Ignored if
///                    LIBTUNE_DEVICE is set
///   PYOPENCL_CTX     p or p:d, a platform or one device of it. Ignored if one of these is set
/// @throws environment_error if the variable cannot be read, no_device_error if it names a device
///         that does not exist; the text lists the devices
std::vector<device> candidate_devices(const device_filter& filter = {});

/// Returns true if one of these three variables is set. Thread-safe.
bool is_device_chosen_by_environment();

/// The first of the best candidates: GPUs before accelerators before all others. Where nothing else
/// decides and CUDA offers a GPU that passes the filter, OpenCL's drivers stay unloaded.
/// @throws no_device_error if there are no candidates; otherwise as candidate_devices
device select_device(const selection& wanted = {});

/// Makes a context on the selected device.
context create_some_context(const selection& wanted = {});

/// Returns the candidates of a given inventory.
std::vector<device> candidate_devices(const inventory& devices, const device_filter& filter);
/// Returns the first of the best devices, in the ranking of select_device.
/// @throws no_device_error if the list is empty
device best_device(const std::vector<device>& candidates);

/// Returns the devices of a compile target. Kernels can be compiled for them, but not run:
///
///   "cuda sm_90"  NVIDIA devices of this generation; NVRTC has to be there, a GPU need not
///   "cuda"        sm_75 and sm_90, the two that differ most
///   "opencl"      each OpenCL device of this machine
///
/// Templates that are constructed with a context of one compile their kernels; an action that needs
/// the device throws a device_error.
/// @throws no_device_error with the missing part if there are no such devices; argument_error for
///         any other text
std::vector<device> compile_targets(std::string_view target);

}  // namespace tune
