// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

struct device_info;

/// The properties that decide whether a configuration can run on a device at all. Empty or zero if
/// the API does not report them.
struct device_capabilities {
  std::string api{};              ///< "CUDA", "OpenCL": the language of the kernels
  std::string architecture{};     ///< the target of the compiler: "sm_90", or the device's own name
                                  ///< for its kind
  std::int64_t work_group = 0;    ///< work items in a work group
  std::int64_t work_group_x = 0;  ///< work items along x
  std::int64_t work_group_y = 0;  ///< work items along y
  std::int64_t work_group_z = 0;  ///< work items along z
  std::int64_t local_memory_bytes = 0;          ///< per work group
  std::int64_t dynamic_local_memory_bytes = 0;  ///< the same, including the part requested at
                                                ///< launch
  std::int64_t registers = 0;                   ///< per work group, of 32 bits
  std::int64_t simd_group = 0;                  ///< work items in lockstep

  friend bool operator==(const device_capabilities&, const device_capabilities&) = default;
};

/// The properties that only affect the speed of a configuration, besides name, platform and driver.
/// Empty or zero if the API does not report them. Sizes and clocks are rounded, so that the
/// identity is the same after the next boot.
struct device_performance {
  std::string compiler{};          ///< "NVRTC 12.4", or the version of the OpenCL platform
  std::int64_t compute_units = 0;  ///< as the API counts them: multiprocessors, or cores
  /// Rounded to the nearest, at least one; zero for CPUs, which report only the memory that is free
  /// now.
  std::int64_t memory_gib = 0;
  std::int64_t cache_kib = 0;         ///< the last cache before global memory
  std::int64_t memory_bus_bits = 0;   ///< the width of the bus to global memory
  std::int64_t clock_mhz = 0;         ///< zero for CPUs, which report their present clock
  std::int64_t memory_clock_mhz = 0;  ///< zero for CPUs

  friend bool operator==(const device_performance&, const device_performance&) = default;
};

/// Distinguishes the results of one device from those of another: the device_* columns of the
/// tuning database. Name, platform and driver only affect the speed of a configuration.
struct device_identity {
  std::string name;                    ///< as the driver reports it
  std::string platform;                ///< "CUDA", or the name of the OpenCL platform
  std::string driver_version;          ///< as text, in the words of the API
  device_capabilities capabilities{};  ///< decide which configurations can run
  device_performance performance{};    ///< only affect their speed

  friend bool operator==(const device_identity&, const device_identity&) = default;
};

/// Returns the maker of a device in lower case, whatever the API: "nvidia", "amd"; or else the name
/// of its platform, as for PoCL. Configurations that are fast on one device of a maker are often
/// fast on its others.
std::string maker_of(const device_identity& device);

/// Returns the identity of a device, completed with the properties that follow from the rest of the
/// device_info. Properties that are already set are unchanged.
device_identity complete_identity(const device_info& info);

}  // namespace tune
