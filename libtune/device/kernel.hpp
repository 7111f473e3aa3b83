// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/buffer.hpp"

namespace tune {

/// Work items along one to three axes; x varies fastest.
struct work_size {
  std::size_t x = 1;  ///< along the axis that varies fastest
  std::size_t y = 1;  ///< along the second axis
  std::size_t z = 1;  ///< along the slowest axis

  /// The number of work items: the product of the three.
  constexpr std::size_t total() const noexcept { return x * y * z; }
  friend constexpr bool operator==(const work_size&, const work_size&) = default;
};

/// The shape of a launch. The global size is counted in work items, not in work groups, and each of
/// its extents is a multiple of the local one. If an extent of the global size is zero, the launch
/// does nothing on any device: that is not an error, and the arguments are not checked.
struct nd_range {
  work_size global;  ///< work items of the whole launch
  work_size local;   ///< work items of one work group
  /// Local memory of each work group whose size is chosen at launch, in addition to the memory that
  /// the kernel declares. The kernel requests it with DYNAMIC_LOCAL_PARAMETER (see
  /// libtune/kernel/preamble.hpp), and then the size must not be zero.
  std::size_t local_memory_bytes = 0;
  /// The number of consecutive work groups along x that form a cluster: they run at the same time,
  /// and can access each other's local memory. Values from 2 to 8 require CUDA and compute
  /// capability 9.0; the number divides the number of groups along x.
  std::size_t cluster = 1;
  /// True if the launch may begin while the previous kernel in the queue still runs, so that no
  /// time is lost between them: CUDA's programmatic dependent launch, from compute capability 9.0
  /// and drivers of CUDA 12.3 on. The previous kernel has to allow it by
  /// griddepcontrol.launch_dependents. Each work item has to wait for that kernel's end by
  /// griddepcontrol.wait, before it reads data that earlier work in the queue writes, or writes
  /// data that earlier work reads. Otherwise the launch begins when the previous kernel has ended,
  /// like any other.
  bool begins_early = false;
};

/// Returns size / step, rounded down. step is positive. Most hosts divide 32-bit numbers several
/// times as fast as larger ones.
constexpr std::size_t divide_down(std::size_t size, std::size_t step) noexcept {
  return (size | step) >> 32 == 0
             ? static_cast<std::uint32_t>(size) / static_cast<std::uint32_t>(step)
             : size / step;
}

/// Returns size / step, rounded up. step is positive.
constexpr std::size_t divide_up(std::size_t size, std::size_t step) noexcept {
  const std::size_t whole = divide_down(size, step);
  return whole + (whole * step != size ? 1 : 0);
}

/// Returns the smallest multiple of step that is at least size. step is positive.
constexpr std::size_t round_up(std::size_t size, std::size_t step) noexcept {
  return divide_up(size, step) * step;
}

/// The properties of a compiled kernel on a device; 0 if the driver does not report one.
struct kernel_info {
  std::string name;  ///< as passed to program::create_kernel
  /// In OpenCL, dynamic local memory counts as an argument. 0 if the driver does not report it, as
  /// CUDA drivers before 12.4.
  std::size_t argument_count = 0;
  std::size_t max_work_group_size = 0;  ///< work items; may be less than the device's limit
  /// The work group of REQD_WORK_GROUP_SIZE; launches with any other are refused. All zero if the
  /// kernel does not declare it. On CUDA also all zero if kernels of the program require different
  /// shapes with the same number of work items.
  work_size required_work_group_size{0, 0, 0};
  std::size_t local_memory_bytes = 0;    ///< per work group, as declared in the kernel
  std::size_t private_memory_bytes = 0;  ///< per work item, including spilled registers
  std::size_t registers = 0;             ///< per work item; 0: unknown
  int binary_version = 0;                ///< the architecture of its machine code, 90 for sm_90; 0:
                                         ///< unknown
};

class image;

namespace detail {
class kernel_interface;
class program_interface;
}  // namespace detail

/// One kernel of a program, with the arguments of its next launch. It cannot be copied: if two
/// threads set arguments of one kernel, each would launch the other's arguments. Make one kernel
/// for each operation.
class kernel {
 public:
  /// For libtune's backends; users call program::create_kernel.
  explicit kernel(std::unique_ptr<detail::kernel_interface> impl) noexcept;
  /// A moved-from kernel may only be destroyed or assigned to.
  kernel(kernel&&) noexcept;
  /// Releases this kernel; otherwise like the move constructor.
  kernel& operator=(kernel&&) noexcept;
  ~kernel();

  /// The properties of the compiled kernel, which do not change; valid while the kernel lives.
  const kernel_info& info() const noexcept;

  /// Returns the number of work groups of this size that one compute unit can run at the same time,
  /// given the registers and local memory of the compiled kernel. With it, configurations that do
  /// not occupy the device can be skipped before they are measured. Zero: the kernel cannot run.
  /// Empty if the API does not report it, as in OpenCL. @throws device_error
  std::optional<std::size_t> resident_work_groups(std::size_t work_group_size,
                                                  std::size_t dynamic_local_memory_bytes = 0) const;

  /// Sets one argument; it stays set for later launches. Allocates nothing; makes no driver call if
  /// the argument already has this value.
  /// @throws device_error (invalid_launch) if the kernel has no such argument or it has another
  ///         size; the text contains both sizes if the driver reports them
  template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
           !std::is_convertible_v<const T&,
                                  std::span<const std::byte>>) void set_argument(std::size_t index,
                                                                                 const T& value) {
    set_argument_bytes(index, &value, sizeof value);
  }
  /// Sets one argument to a buffer, which the kernel keeps alive until the argument is set again.
  /// @throws argument_error if the buffer belongs to another context; otherwise as for a value
  void set_argument(std::size_t index, const buffer& value);
  /// Sets one argument to an image: a texture object in CUDA, an image in OpenCL.
  void set_argument(std::size_t index, const image& value);
  /// Sets a parameter of type sampler_t to the sampling of an image, in OpenCL only: textures of
  /// CUDA include their sampling. A kernel may also declare a sampler in its text.
  /// @throws device_error (invalid_launch) on CUDA, otherwise as set_argument
  void set_sampler(std::size_t index, const image& value);
  /// Sets one argument to the bytes of a value whose type is known at run time only.
  void set_argument(std::size_t index, std::span<const std::byte> value);

  /// Sets the first arguments, in order.
  template <class... Args>
  void set_arguments(const Args&... args) {
    std::size_t index = 0;
    (set_argument(index++, args), ...);
  }

  /// For libtune's own code; invalid for a moved-from kernel.
  detail::kernel_interface& impl() const noexcept { return *impl_; }

 private:
  void set_argument_bytes(std::size_t index, const void* bytes, std::size_t size);

  std::unique_ptr<detail::kernel_interface> impl_;
};

/// A text that a program can include by name. It takes precedence over a file of the same name.
/// Headers include each other by the full name, too.
struct kernel_header {
  std::string name;  ///< as in the #include, relative: "filter.h", "filters/fir.h"
  std::string text;  ///< the content
  friend bool operator==(const kernel_header&, const kernel_header&) = default;
};

/// The input of a device's compiler: complete text without placeholders.
struct program_source {
  std::string name;                      ///< for messages, such as the name of the kernel's file
  std::string text;                      ///< in the device's kernel_language
  std::vector<std::string> options;      ///< for the device's own compiler
  std::vector<kernel_header> headers{};  ///< texts that it may include, besides files
};

/// A file that a program's compiler has read, with its content at that time.
struct included_file {
  std::string path;    ///< absolute
  std::string digest;  ///< SHA-256 of its content, in hexadecimal
  friend bool operator==(const included_file&, const included_file&) = default;
};

/// The files that a program's compiler has read besides its text and headers, in the order of their
/// paths. Files of the compiler's own toolkit are left out: context::compiler_identity covers them.
/// Empty (nullopt) if the compiler does not report them.
using included_files = std::optional<std::vector<included_file>>;

/// A program compiled for one context. A handle: copies refer to the same program. Thread-safe.
class program {
 public:
  /// For libtune's backends; users call tune::compile or context::create_program.
  explicit program(std::shared_ptr<detail::program_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// Returns a new kernel object for the caller.
  /// @throws device_error if the program has no kernel of this name
  kernel create_kernel(const std::string& name) const;

  /// Returns the memory of a program variable that the host may write at run time: one that is
  /// declared in CUDA as __constant__ or __device__ at file scope. Write it with
  /// command_queue::write, before the launches that read it. OpenCL has no such variables: give the
  /// kernel a CONSTANT pointer, and set it to a buffer.
  /// @throws device_error if there is no such variable; the compiler drops variables that no kernel
  ///         uses
  buffer variable(const std::string& name) const;

  /// Returns the machine code, for context::create_program_from_binary on the same kind of device
  /// with the same context::compiler_identity. Empty if the driver does not provide it.
  /// @throws device_error
  std::vector<std::byte> binary() const;

  /// Returns the files that the program was compiled from; nullopt for a program made from a
  /// binary.
  const included_files& included() const noexcept;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::program_interface>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::program_interface> impl_;
};

}  // namespace tune
