// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::detail {

/// The device and compiler that programs are compiled for, as another process finds them.
struct compile_target {
  std::string backend = {};  ///< device_info::backend
  std::string platform = {};
  std::string device = {};
  std::string driver_version = {};
  std::string compiler_identity = {};             ///< context::compiler_identity
  tune::compute_capability compute_capability{};  ///< 0.0 where the device has none
  /// For the pool alone: workers for it start one after the other, not together.
  bool starts_in_turn = false;
};

/// The devices of a backend on this machine.
struct offered_devices {
  std::vector<std::vector<device>> platforms{};  ///< in the driver's order, empty ones included
  /// The reason for the absence of devices, such as a missing driver; empty if there is one.
  std::string absence{};

  std::vector<device> all() const;
};

/// An API that offers devices, such as CUDA. Has no state of its own. Thread-safe.
class backend {
 public:
  virtual ~backend() = default;

  /// device_info::backend of its devices.
  virtual std::string name() const = 0;
  /// Returns its devices. Asks the driver once in the life of the process. Does not throw.
  virtual offered_devices offer() const = 0;

  /// Devices to compile for, which need not be there: all that `rest` leaves open. Empty if it
  /// means nothing. @param rest  the words after the backend's own, as in "cuda sm_90"
  /// @throws no_device_error if no compiler for them is there
  virtual std::vector<device> compile_targets(std::string_view rest) const = 0;
  /// The texts that compile_targets takes, for messages: "\"cuda sm_90\", \"cuda\"".
  virtual std::string compile_target_names() const = 0;

  /// Does in a worker what its first compile for the target would do beside compiling.
  virtual void prepare_compiler(const compile_target& target) const = 0;
  /// Compiles in a worker, where it may fork and change the current folder.
  /// @param launches  shapes of first launches, for compilers that compile for these too
  /// @param folder    where paths in the source and its options begin; absolute
  /// @throws build_error with the compiler's log; tune::error if what compiles here is another
  virtual compiled_program compile(const compile_target& target, const program_source& source,
                                   std::span<const nd_range> launches,
                                   const std::string& folder) const = 0;
  /// True if to compile for the device opens it, which drivers do for one process after the other.
  virtual bool opens_device_to_compile(const device_info&) const { return false; }
  /// True if only in a process of its own its compiler can be watched for the files that it reads.
  virtual bool hides_included_files() const { return false; }
  /// True if a fault of a kernel on the device may come as another error, or none.
  virtual bool hides_faults(const device_info&) const { return false; }
};

/// All backends, in the order in which LIBTUNE_DEVICE counts their devices. A new backend is its
/// folder and a line in backend.cpp.
std::span<const backend* const> all_backends() noexcept;

/// Returns the backend of this name, or null: other devices, such as fake ones, have none.
const backend* find_backend(std::string_view name) noexcept;

}  // namespace tune::detail
