// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/device_identity.hpp"

namespace tune {

/// Kinds of devices, in the order of preference.
enum class device_kind : std::uint8_t {
  gpu,          ///< a graphics processor
  accelerator,  ///< an OpenCL accelerator, such as an FPGA
  cpu,          ///< the host's own processor
  other         ///< any other or unknown kind
};

/// "GPU", "accelerator", "CPU" or "other".
std::string_view device_kind_name(device_kind kind) noexcept;

/// The language that a device's compiler reads.
enum class kernel_language : std::uint8_t {
  opencl_c,  ///< OpenCL C
  cuda_cpp   ///< CUDA C++
};

/// The ways in which the host accesses the memory of context::create_managed_buffer, the easiest
/// last.
enum class managed_memory_kind : std::uint8_t {
  none,    ///< the device has no managed memory
  mapped,  ///< only between command_queue::map and the end of its result
  direct,  ///< whenever no command that uses it is under way; mapping is free
};

/// Upper limits of launches and allocations, and sizes of the hardware.
struct device_limits {
  std::size_t max_work_group_size = 0;                        ///< work items in a work group
  std::array<std::size_t, 3> max_work_group_extent{0, 0, 0};  ///< the same for each dimension
  std::size_t local_memory_bytes = 0;                         ///< per work group
  std::size_t global_memory_bytes = 0;                        ///< CPUs may report only the free
                                                              ///< part
  std::size_t max_allocation_bytes = 0;                       ///< size of the largest buffer
  std::size_t buffer_alignment_bytes = 1;  ///< offsets of sub-buffers are multiples of it
  std::size_t compute_units = 0;           ///< as the API counts them: multiprocessors, or cores
  std::size_t simd_group_size = 0;  ///< work items that run in lockstep: a hint for speed only

  /// Local memory per work group, including the part that is requested at launch
  /// (nd_range::local_memory_bytes). In CUDA it may exceed local_memory_bytes; in OpenCL the two
  /// are equal.
  std::size_t max_dynamic_local_memory_bytes = 0;

  // The following are zero if the API does not report them.
  std::size_t registers_per_work_group = 0;     ///< of 32 bits
  std::size_t work_items_per_compute_unit = 0;  ///< the most that run at the same time
  std::size_t cache_bytes = 0;                  ///< the last cache before global memory
  std::size_t clock_khz = 0;                    ///< of the compute units, the highest
  std::size_t memory_clock_khz = 0;             ///< of global memory, the highest
  std::size_t memory_bus_bits = 0;              ///< the width of the bus to global memory
  std::size_t timer_resolution_ns = 0;          ///< the tick of the times of events
};

/// The generation of an NVIDIA device: 9.0 compiles for sm_90.
struct compute_capability {
  int major = 0;  ///< the 9 of 9.0
  int minor = 0;  ///< the 0 of 9.0

  friend bool operator==(const compute_capability&, const compute_capability&) = default;
};

/// The identifiers of a device's hardware. They reveal that devices of several backends are the
/// same hardware. A field is empty if the backend's API does not report it.
struct device_hardware {
  std::string pci_address = {};  ///< "0000:3b:00.0", lower case
  std::string uuid = {};         ///< "00112233-4455-6677-8899-aabbccddeeff"
  std::optional<tune::compute_capability> compute_capability = {};  ///< NVIDIA devices only
};

/// A UUID as text, in the form of device_hardware.
std::string uuid_text(std::span<const std::byte, 16> bytes);

/// The properties of a device that can be read without a context.
struct device_info {
  device_identity identity;               ///< distinguishes its tuning results from other devices'
  std::string backend;                    ///< "OpenCL", "CUDA", "fake"
  device_kind kind = device_kind::other;  ///< a GPU, a CPU or another kind
  kernel_language language = kernel_language::opencl_c;  ///< the language that its compiler reads
  device_limits limits;                                  ///< limits of launches and allocations
  device_hardware hardware = {};  ///< the same in every backend that offers the device
  managed_memory_kind managed_memory = managed_memory_kind::none;  ///< the host's way of accessing
                                                                   ///< it
  bool command_graphs = false;  ///< true if command_queue::capture can work
  /// The compute units of the whole device if this is a part of it (device::divide); else zero.
  std::size_t whole_compute_units = 0;
};

/// Options of device::create_context.
struct context_options {
  /// True if the context shares nothing with the rest of the process. Otherwise a CUDA context is
  /// the device's primary one, which the CUDA runtime and other libraries use too, so that memory
  /// and streams may be exchanged with them. Each OpenCL context is its own in any case. A part of
  /// a CUDA device shares the primary context, so that its contexts cannot be their own.
  bool own = false;
};

class context;

namespace detail {
class device_interface;
}

/// A device that kernels can run on. A handle: copies refer to the same device. Thread-safe.
class device {
 public:
  /// For libtune's backends; users call all_devices or select_device.
  explicit device(std::shared_ptr<const detail::device_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// All properties, as read once at discovery; valid while a handle to the device exists.
  const device_info& info() const noexcept;
  /// The properties that distinguish its tuning results from those of other devices.
  const device_identity& identity() const noexcept { return info().identity; }
  /// The largest launches and allocations that the device accepts.
  const device_limits& limits() const noexcept { return info().limits; }

  /// The name that the driver reports, such as "NVIDIA H200".
  const std::string& name() const noexcept { return identity().name; }
  /// "CUDA", or the name of the OpenCL platform.
  const std::string& platform_name() const noexcept { return identity().platform; }
  /// The version of the driver as text; for CUDA the version of the driver's API, as "driver 12.4".
  const std::string& driver_version() const noexcept { return identity().driver_version; }
  /// The kind of device: a GPU, a CPU or another.
  device_kind kind() const noexcept { return info().kind; }

  /// The most work items in a work group; a kernel may allow fewer (kernel_info).
  std::size_t max_work_group_size() const noexcept { return limits().max_work_group_size; }
  /// The most bytes of local memory that the kernels may declare for a work group.
  std::size_t local_memory_bytes() const noexcept { return limits().local_memory_bytes; }
  /// Work items that run in lockstep. It only affects speed, never correctness.
  std::size_t simd_group_size() const noexcept { return limits().simd_group_size; }

  /// A new context. @throws device_error
  context create_context(context_options options = {}) const;

  /// Divides the compute units into disjoint parts, each of which is a device: the streams of a
  /// CUDA green context, or an OpenCL sub-device. Kernels of a part run on its compute units alone,
  /// which its limits and its identity count; all parts use the memory of the whole device. The
  /// driver may give a part more compute units than it asks for: NVIDIA's gives groups of 2 to 8.
  /// @param compute_units  of each part, at least one
  /// @return the parts in their order, and then one of all compute units that are left, if there
  ///         are any. Parts of different calls may overlap.
  /// @throws argument_error if there is no part, one is empty, together they exceed the device, or
  ///         this is a part itself; device_error if the driver cannot divide the device
  std::vector<device> divide(const std::vector<std::size_t>& compute_units) const;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<const detail::device_interface>& impl() const noexcept { return impl_; }

  /// True if two handles refer to the same device of the same backend.
  friend bool operator==(const device& a, const device& b) noexcept { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<const detail::device_interface> impl_;
};

}  // namespace tune
