// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "libtune/device/buffer.hpp"
#include "libtune/device/nd_range.hpp"

namespace tune {

/// What is known of a kernel once it has been compiled for a device; 0 where the driver does not
/// tell.
struct kernel_info {
  std::string name;  ///< the one given to program::create_kernel
  /// Dynamic local memory counts as an argument in OpenCL. 0 where a CUDA driver before 12.4 does
  /// not tell.
  std::size_t argument_count = 0;
  std::size_t max_work_group_size = 0;  ///< work items; may be less than the device's limit
  /// What REQD_WORK_GROUP_SIZE asks for: launches with another work group are refused. All zero
  /// where the kernel does not have it. On CUDA all zero, too, where the program has kernels that
  /// ask for different shapes of as many work items.
  work_size required_work_group_size{0, 0, 0};
  std::size_t local_memory_bytes = 0;    ///< per work group, as declared in the kernel
  std::size_t private_memory_bytes = 0;  ///< per work item, spilled registers included
  std::size_t registers = 0;             ///< per work item; 0: not known
  int binary_version = 0;                ///< of its machine code, 90 for sm_90; 0: not known
};

namespace detail {
class kernel_interface;
}

/// One kernel of a program, with the arguments that its next launch will use. It cannot be copied,
/// because two threads that set arguments of one kernel would launch each other's: make one kernel
/// for each operation.
class kernel {
 public:
  /// For libtune's backends; users call program::create_kernel.
  explicit kernel(std::unique_ptr<detail::kernel_interface> impl) noexcept;
  /// The kernel that was moved from may only be destroyed or assigned to.
  kernel(kernel&&) noexcept;
  /// Releases the kernel that this was; the rest as for the move constructor.
  kernel& operator=(kernel&&) noexcept;
  ~kernel();

  /// The properties of the compiled kernel, which do not change; lives as long as the kernel.
  const kernel_info& info() const noexcept;

  /// How many work groups of so many work items one compute unit runs at the same time, by the
  /// registers and local memory that the compiled kernel takes: what does not occupy the device can
  /// be skipped before it is measured. Zero: it cannot run. Empty where the API does not tell, as
  /// OpenCL. @throws device_error
  std::optional<std::size_t> resident_work_groups(std::size_t work_group_size,
                                                  std::size_t dynamic_local_memory_bytes = 0) const;

  /// Sets one argument; it stays set for later launches. Allocates nothing, and makes no driver
  /// call if the argument already has this value.
  /// @throws device_error (invalid_launch) if the kernel has no such argument or it has another
  ///         size, and names both sizes where the driver tells them
  template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
           !std::is_convertible_v<const T&,
                                  std::span<const std::byte>>) void set_argument(std::size_t index,
                                                                                 const T& value) {
    set_argument_bytes(index, &value, sizeof value);
  }
  /// Sets one argument to a buffer, which the kernel keeps alive until the argument is set anew.
  /// @throws argument_error if the buffer belongs to another context, else as for a value
  void set_argument(std::size_t index, const buffer& value);
  /// The bytes of a value whose type is known at run time only.
  void set_argument(std::size_t index, std::span<const std::byte> value);

  /// Sets the arguments from the first on.
  template <class... Args>
  void set_arguments(const Args&... args) {
    std::size_t index = 0;
    (set_argument(index++, args), ...);
  }

  /// For libtune's own code; not of a kernel that was moved from.
  detail::kernel_interface& impl() const noexcept { return *impl_; }

 private:
  void set_argument_bytes(std::size_t index, const void* bytes, std::size_t size);

  std::unique_ptr<detail::kernel_interface> impl_;
};

}  // namespace tune
