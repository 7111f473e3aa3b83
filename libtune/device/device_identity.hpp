// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

struct device_info;

/// What decides whether a configuration can run on a device at all. What the API does not tell is
/// empty or zero.
struct device_legality {
  std::string api{};            ///< "CUDA", "OpenCL": the language of the kernels
  std::string architecture{};   ///< what is compiled for: "sm_90", or what the device calls itself
  std::int64_t work_group = 0;  ///< work items in a work group
  std::int64_t work_group_x = 0;                ///< work items along x
  std::int64_t work_group_y = 0;                ///< work items along y
  std::int64_t work_group_z = 0;                ///< work items along z
  std::int64_t local_memory_bytes = 0;          ///< per work group
  std::int64_t dynamic_local_memory_bytes = 0;  ///< the same, where asked for at launch
  std::int64_t registers = 0;                   ///< per work group, of 32 bits
  std::int64_t simd_group = 0;                  ///< work items in lockstep

  friend bool operator==(const device_legality&, const device_legality&) = default;
};

/// What only decides how fast it runs, beside name, platform and driver. What the API does not
/// tell is empty or zero. Sizes and clocks are rounded, so that a new boot is the same device.
struct device_speed {
  std::string compiler{};          ///< "NVRTC 12.4", or the version of the OpenCL platform
  std::int64_t compute_units = 0;  ///< as the API counts them: multiprocessors, or cores
  /// To the nearest, one at least; zero for CPUs, which tell what is free just now.
  std::int64_t memory_gib = 0;
  std::int64_t cache_kib = 0;         ///< the last cache before global memory
  std::int64_t memory_bus_bits = 0;   ///< the width of the bus to global memory
  std::int64_t clock_mhz = 0;         ///< zero for CPUs, which report what they run at just now
  std::int64_t memory_clock_mhz = 0;  ///< zero for CPUs

  friend bool operator==(const device_speed&, const device_speed&) = default;
};

/// What tells the results of one device from those of another: the device_* columns of the tuning
/// database. Name, platform and driver belong to what only decides the speed.
struct device_identity {
  std::string name;            ///< as the driver reports it
  std::string platform;        ///< "CUDA", or the name of the OpenCL platform
  std::string driver_version;  ///< as text, in the words of the API
  device_legality legality{};  ///< decides which configurations can run
  device_speed speed{};        ///< decides only how fast they run

  friend bool operator==(const device_identity&, const device_identity&) = default;
};

/// The identity of a device with all that follows from the rest of what is known of it. What has
/// been set already stays.
device_identity complete_identity(const device_info& info);

}  // namespace tune
