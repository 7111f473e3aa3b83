// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/cuda/cubin.hpp"

namespace tune::cuda {

/// The driver's data about a kernel.
struct loaded_kernel {
  struct parameter {
    std::size_t offset;
    std::size_t size;
  };

  CUkernel handle = nullptr;
  kernel_info info{};
  std::optional<std::vector<parameter>> parameters{};  ///< empty: the driver does not report them
};

/// A library of the driver. Unlike a module it belongs to no context, and its kernels take their
/// context from the stream of the launch.
class library_handle {
 public:
  /// Loads machine code into this context immediately, so that no launch has to.
  /// @param name  for messages
  /// @throws device_error (invalid_binary) if the driver does not accept it
  library_handle(const cuda_context& context, const std::string& name,
                 const std::vector<std::byte>& cubin);
  library_handle(const library_handle&) = delete;
  library_handle& operator=(const library_handle&) = delete;
  ~library_handle();

  /// Returns a kernel. The first call for it takes some twenty calls of the driver. Thread-safe.
  /// @return valid while the library lives
  /// @throws device_error if there is no such kernel
  const loaded_kernel& kernel(const std::string& name) const;

  /// Returns the memory of a variable, which keeps the library alive.
  /// @throws device_error if there is no such variable
  std::shared_ptr<detail::buffer_interface> variable(
      const std::shared_ptr<cuda_context>& context, const std::string& name,
      std::shared_ptr<const library_handle> self) const;

 private:
  loaded_kernel load(const std::string& name) const;

  const cuda_context& context_;
  CUlibrary handle_ = nullptr;
  kernel_symbols symbols_;
  std::vector<std::string> names_;  // of its kernels
  required_work_groups required_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, loaded_kernel> kernels_;  // only the requested ones
};

class cuda_program final : public detail::program_interface {
 public:
  cuda_program(const std::shared_ptr<cuda_context>& context, const std::string& name,
               std::vector<std::byte> cubin);

 private:
  std::unique_ptr<detail::kernel_interface> do_create_kernel(
      const std::string& name) const override;
  std::vector<std::byte> do_binary() const override { return cubin_; }
  std::shared_ptr<detail::buffer_interface> do_variable(const std::string& name) const override;

  std::vector<std::byte> cubin_;
  std::shared_ptr<const library_handle> library_;  // shared with its kernels
};

/// A kernel with its arguments in the driver's form, so that a launch only passes a pointer.
class cuda_kernel final : public detail::kernel_interface {
 public:
  /// @param known  belongs to the library
  cuda_kernel(const std::shared_ptr<cuda_context>& context,
              std::shared_ptr<const library_handle> library, const loaded_kernel& known);

  /// For cuLaunchKernel, which accepts a kernel instead of a function.
  CUfunction handle() const noexcept { return reinterpret_cast<CUfunction>(kernel_); }

  /// Returns pointers to the arguments. @throws device_error (invalid_launch) if one is not set
  void** arguments() {
    if (unset_ > 0) throw_unset();
    return pointers_.data();
  }

  /// Allows the kernel as much dynamic local memory as the device has, if it needs more than is
  /// allowed by default. @throws device_error
  void allow_dynamic_local_memory(std::size_t bytes) {
    if (bytes > allowed_dynamic_bytes_) raise_dynamic_local_memory(bytes);
  }

 private:
  struct argument {
    std::size_t size = 0;  // as declared
    bool is_set = false;
    std::shared_ptr<detail::buffer_interface> buffer = {};  // kept alive for later launches
  };

  void lay_out_arguments(const loaded_kernel& known);
  void do_set_argument(std::size_t index, const void* bytes, std::size_t size) override;
  void do_set_buffer(std::size_t index,
                     const std::shared_ptr<detail::buffer_interface>& buffer) override;
  void do_collect(detail::possessions& used) const override;
  std::optional<std::size_t> do_resident_work_groups(std::size_t work_group_size,
                                                     std::size_t dynamic_bytes) const override;
  void store(std::size_t index, const void* bytes, std::size_t size);
  void raise_dynamic_local_memory(std::size_t bytes);
  [[noreturn]] void throw_unset() const;
  [[noreturn]] void refuse_index(std::size_t index) const;
  [[noreturn]] void refuse_size(std::size_t index, std::size_t size) const;

  const cuda_context& cuda() const noexcept { return static_cast<const cuda_context&>(*context()); }

  std::shared_ptr<const library_handle> library_;
  CUkernel kernel_;
  std::vector<argument> arguments_;
  std::vector<std::byte> storage_;
  std::vector<void*> pointers_;  // into storage_
  bool sizes_are_known_ = true;
  std::size_t unset_ = 0;
  std::size_t allowed_dynamic_bytes_;
};

/// Describes how a launch exceeds the limits of kernel and device; empty if it does not.
std::string describe_excess(const nd_range& range, const kernel_info& kernel,
                            const device_limits& limits);

/// Throws the device_error for a launch that the driver refused. The driver does not report which
/// limit was exceeded, so this function searches for it.
[[noreturn]] void throw_launch_error(CUresult code, const cuda_kernel& kernel,
                                     const nd_range& range);

}  // namespace tune::cuda
