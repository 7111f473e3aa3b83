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

/// A count of work items along one to three axes; x varies fastest.
struct work_size {
  std::size_t x = 1;  ///< along the axis that varies fastest
  std::size_t y = 1;  ///< along the second axis
  std::size_t z = 1;  ///< along the slowest axis

  /// The number of work items: the product of the three.
  constexpr std::size_t total() const noexcept { return x * y * z; }
  friend constexpr bool operator==(const work_size&, const work_size&) = default;
};

/// The shape of a launch. The global size is counted in work items, not in work groups, and each
/// extent is a multiple of the local one. Where an extent of the global size is zero there is no
/// work item, and the launch does nothing on any device: it is no error, and no argument is looked
/// at.
struct nd_range {
  work_size global;  ///< work items of the whole launch
  work_size local;   ///< work items of one work group
  /// Local memory whose size is known at launch only, for each work group, in addition to what the
  /// kernel declares itself. The kernel has to ask for it with DYNAMIC_LOCAL_PARAMETER (see
  /// libtune/kernel/preamble.hpp), and then it is never zero.
  std::size_t local_memory_bytes = 0;
  /// So many work groups that follow each other along x are a cluster: they run at the same time,
  /// and reach the local memory of each other. More than 1, up to 8, in CUDA from compute
  /// capability 9.0 on only; it divides the number of groups along x.
  std::size_t cluster = 1;
  /// The launch may begin while the kernel ahead of it in the queue still runs, so that no time is
  /// lost between them: CUDA's programmatic dependent launch, from compute capability 9.0 and
  /// drivers of CUDA 12.3 on. The kernel ahead has to let it, by griddepcontrol.launch_dependents.
  /// Each work item has to wait for that kernel's end, by griddepcontrol.wait, before it reads what
  /// work ahead of it in the queue writes, or writes what that reads. Elsewhere the launch begins
  /// when the kernel has ended, as any other.
  bool begins_early = false;
};

/// size / step, rounded down. step is positive. Most hosts divide numbers of 32 bits several times
/// as fast as others.
constexpr std::size_t divide_down(std::size_t size, std::size_t step) noexcept {
  return (size | step) >> 32 == 0
             ? static_cast<std::uint32_t>(size) / static_cast<std::uint32_t>(step)
             : size / step;
}

/// size / step, rounded up. step is positive.
constexpr std::size_t divide_up(std::size_t size, std::size_t step) noexcept {
  const std::size_t whole = divide_down(size, step);
  return whole + (whole * step != size ? 1 : 0);
}

/// The smallest multiple of step that is at least size. step is positive.
constexpr std::size_t round_up(std::size_t size, std::size_t step) noexcept {
  return divide_up(size, step) * step;
}

/// The properties of a kernel that has been compiled for a device; 0 where the driver does not
/// report one.
struct kernel_info {
  std::string name;  ///< the one given to program::create_kernel
  /// Dynamic local memory counts as an argument in OpenCL. 0 where a CUDA driver before 12.4 does
  /// not tell.
  std::size_t argument_count = 0;
  std::size_t max_work_group_size = 0;  ///< work items; may be less than the device's limit
  /// The work group of REQD_WORK_GROUP_SIZE: launches with another work group are refused. All zero
  /// where the kernel does not have it. On CUDA all zero, too, where the program has kernels that
  /// ask for different shapes of as many work items.
  work_size required_work_group_size{0, 0, 0};
  std::size_t local_memory_bytes = 0;    ///< per work group, as declared in the kernel
  std::size_t private_memory_bytes = 0;  ///< per work item, spilled registers included
  std::size_t registers = 0;             ///< per work item; 0: not known
  int binary_version = 0;                ///< of its machine code, 90 for sm_90; 0: not known
};

class image;

namespace detail {
class kernel_interface;
class program_interface;
}  // namespace detail

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

  /// Returns the number of work groups of this size that one compute unit runs at the same time, by
  /// the registers and local memory that the compiled kernel takes: what does not occupy the device
  /// can be skipped before it is measured. Zero: it cannot run. Empty where the API does not tell,
  /// as OpenCL. @throws device_error
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
  /// The same for an image: a texture object in CUDA, an image in OpenCL.
  void set_argument(std::size_t index, const image& value);
  /// Sets a parameter of type sampler_t to the sampling of an image, in OpenCL; a texture of CUDA
  /// has its own. The kernel may also name a sampler in its text.
  /// @throws device_error (invalid_launch) on CUDA, else as set_argument
  void set_sampler(std::size_t index, const image& value);
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

/// A text that a program may include by its name. Where a file has the same name, the text is
/// meant. Headers include each other by the whole name, too.
struct kernel_header {
  std::string name;  ///< as the text includes it, relative: "filter.h", "filters/fir.h"
  std::string text;  ///< its content
  friend bool operator==(const kernel_header&, const kernel_header&) = default;
};

/// The input of a device's compiler: complete text, nothing left to substitute.
struct program_source {
  std::string name;  ///< for messages, such as the name of the file that the kernel came from
  std::string text;  ///< in the device's kernel_language
  std::vector<std::string> options;      ///< for the device's own compiler
  std::vector<kernel_header> headers{};  ///< that it may include, beside files
};

/// A file that a program's compiler has read, as it was then.
struct included_file {
  std::string path;    ///< absolute
  std::string digest;  ///< SHA-256 of its content, in hexadecimal
  friend bool operator==(const included_file&, const included_file&) = default;
};

/// The files that a program's compiler has read beside its text and headers, in the order of their
/// paths. Those of the compiler's own toolkit are left out: context::compiler_identity covers them.
/// Empty (nullopt) where the compiler does not tell.
using included_files = std::optional<std::vector<included_file>>;

/// A program compiled for one context. A handle: copies mean the same program. Thread-safe.
class program {
 public:
  /// For libtune's backends; users call tune::compile or context::create_program.
  explicit program(std::shared_ptr<detail::program_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// A kernel object of its own for the caller.
  /// @throws device_error if the program has no kernel of this name
  kernel create_kernel(const std::string& name) const;

  /// Returns the memory of a variable of the program that the host may write at run time: one that
  /// is declared in CUDA as __constant__ or __device__ at file scope. Write it with
  /// command_queue::write, before the launches that read it. OpenCL has none: give the kernel a
  /// CONSTANT pointer, and set it to a buffer.
  /// @throws device_error if there is none of this name, which may be because no kernel uses it
  buffer variable(const std::string& name) const;

  /// Returns the machine code, for context::create_program_from_binary on the same kind of device
  /// under the same context::compiler_identity. Empty if the driver does not hand it out.
  /// @throws device_error
  std::vector<std::byte> binary() const;

  /// Returns the files that it was compiled from; none for a program that was made from a binary.
  const included_files& included() const noexcept;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::program_interface>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::program_interface> impl_;
};

}  // namespace tune
