// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The interfaces that a backend implements. Users hold the value handles (device, context,
// command_queue, event, program, kernel, buffer) and never see these. Public functions are not
// virtual and do the checks that are common to all backends; a backend overrides only the private
// do_ functions.
//
// Ownership: each object keeps its origin alive (a queue its context, a context its device). A
// backend may downcast the objects that it is given to its own types: the handles have checked that
// they come from the same context.
//
// Errors: a do_ function throws device_error, or build_error if a source does not compile.
// Functions that allocate, compile or load are doors of base/seal.hpp, here for every backend.
// Destructors log their errors.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/device/buffer.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/device_memory.hpp"
#include "libtune/device/image.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::detail {

class context_interface;
class memory_quota;     // libtune/device/memory_quota.hpp
class queue_interface;  // libtune/device/queue_interface.hpp

/// Objects of any type to be kept alive.
using possessions = std::vector<std::shared_ptr<const void>>;

class device_interface;

/// The origin of a part of a device. Another process that divides the device likewise has the same
/// part.
struct part_origin {
  std::shared_ptr<const device_interface> whole;
  std::vector<std::size_t> division{};  ///< the argument of device::divide
  std::size_t index = 0;                ///< of the part in the result
};

class device_interface : public std::enable_shared_from_this<device_interface> {
 public:
  explicit device_interface(device_info info) : info_(std::move(info)) {
    info_.identity = complete_identity(info_);
  }
  /// A part of a device. @param compute_units  those that the driver gives it
  device_interface(part_origin origin, std::size_t compute_units);
  virtual ~device_interface() = default;
  device_interface(const device_interface&) = delete;
  device_interface& operator=(const device_interface&) = delete;

  const device_info& info() const noexcept { return info_; }
  std::shared_ptr<context_interface> create_context(context_options options) const;
  std::vector<std::shared_ptr<const device_interface>> divide(
      const std::vector<std::size_t>& compute_units) const;
  /// Null if it is a whole device.
  const part_origin* part() const noexcept { return part_ ? &*part_ : nullptr; }
  /// The device that owns the memory: itself, unless it is a part.
  const device_interface& whole() const noexcept { return part_ ? *part_->whole : *this; }
  /// The size of the buffers and images that this process has allocated on the whole device, in
  /// bytes.
  std::size_t held_bytes() const noexcept {
    return whole().held_bytes_.load(std::memory_order_relaxed);
  }

 private:
  friend class buffer_interface;   // it releases
  friend class context_interface;  // it allocates

  virtual std::shared_ptr<context_interface> do_create_context(context_options options) const = 0;
  /// This is a whole device, and each part has at least one compute unit.
  virtual std::vector<std::shared_ptr<const device_interface>> do_divide(
      const std::vector<std::size_t>& compute_units) const;

  device_info info_;
  std::optional<part_origin> part_;
  mutable std::atomic<std::size_t> held_bytes_{0};
};

/// Untyped device memory.
class buffer_interface : public std::enable_shared_from_this<buffer_interface> {
 public:
  /// @param host_data  the host address, if it is valid at all times
  buffer_interface(std::shared_ptr<context_interface> context, std::size_t bytes,
                   void* host_data = nullptr)
      : context_(std::move(context)), bytes_(bytes), host_data_(host_data) {}
  /// A part of a buffer, which it keeps alive; it has a host address if the whole buffer has.
  buffer_interface(std::shared_ptr<const buffer_interface> parent, std::size_t offset_bytes,
                   std::size_t bytes);
  virtual ~buffer_interface();
  buffer_interface(const buffer_interface&) = delete;
  buffer_interface& operator=(const buffer_interface&) = delete;

  const std::shared_ptr<context_interface>& context() const noexcept { return context_; }
  std::size_t bytes() const noexcept { return bytes_; }
  void* host_data() const noexcept { return host_data_; }

 private:
  friend class queue_interface;    // it checks before mapping
  friend class context_interface;  // it knows the allocation

  /// Maps memory without a permanent host address. Null: the host cannot access it.
  virtual void* do_map(queue_interface&, bool /*blocking*/) { return nullptr; }
  /// Ends a mapping; data is the result of do_map for the same queue.
  virtual void do_unmap(queue_interface&, void* /*data*/) {}

  std::shared_ptr<context_interface> context_;
  std::shared_ptr<const buffer_interface> parent_;
  std::size_t bytes_;
  void* host_data_;
  bool allocated_ = false;               // allocated separately, and so released with it
  std::shared_ptr<memory_quota> quota_;  // the quota that it counts towards; may be null
};

/// Host memory for fast copies. Backends derive from it to release it.
class pinned_memory_interface {
 public:
  pinned_memory_interface(void* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}
  virtual ~pinned_memory_interface();
  pinned_memory_interface(const pinned_memory_interface&) = delete;
  pinned_memory_interface& operator=(const pinned_memory_interface&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  friend class context_interface;  // it knows the device

  void* data_;
  std::size_t bytes_;
  std::shared_ptr<const device_interface> device_;
};

/// The launches of a kernel while a tuning queue records them or a graph captures them, each shape
/// once. For the metrics of a trial. Thread-safe.
class launch_record {
 public:
  explicit launch_record(std::string kernel) : kernel_(std::move(kernel)) {}

  const std::string& kernel() const noexcept { return kernel_; }
  void note(const nd_range& range);
  std::vector<nd_range> launches() const;

 private:
  std::string kernel_;
  mutable std::mutex mutex_;
  std::vector<nd_range> launches_;
};

/// One kernel with the arguments of its next launch. Not thread-safe.
class kernel_interface {
 public:
  kernel_interface(std::shared_ptr<context_interface> context, kernel_info info)
      : context_(std::move(context)), info_(std::move(info)) {}
  virtual ~kernel_interface() = default;
  kernel_interface(const kernel_interface&) = delete;
  kernel_interface& operator=(const kernel_interface&) = delete;

  const std::shared_ptr<context_interface>& context() const noexcept { return context_; }
  const kernel_info& info() const noexcept { return info_; }
  void set_argument(std::size_t index, const void* bytes, std::size_t size) {
    do_set_argument(index, bytes, size);
  }
  void set_argument(std::size_t index, const std::shared_ptr<buffer_interface>& buffer) {
    do_set_buffer(index, buffer);
  }
  void set_sampler(std::size_t index, const std::shared_ptr<buffer_interface>& image) {
    do_set_sampler(index, image);
  }
  /// @throws argument_error if it belongs to another context @param what  such as "a buffer"
  void check_context(std::size_t index, const buffer_interface& given, const char* what) const;
  /// Adds the objects that a launch with the present arguments uses.
  void collect(possessions& used) const { do_collect(used); }
  std::optional<std::size_t> resident_work_groups(std::size_t work_group_size,
                                                  std::size_t dynamic_bytes) const {
    return do_resident_work_groups(work_group_size, dynamic_bytes);
  }
  void note_launch(const nd_range& range) const {
    if (record_ != nullptr) record_->note(range);
  }

 protected:
  // Throw a device_error (invalid_launch) about an argument, with the same text for every backend.
  [[noreturn]] void refuse_argument(std::size_t index, const std::string& reason) const;
  /// @param count  the kernel's number of arguments
  [[noreturn]] void throw_no_argument(std::size_t index, std::size_t count) const;
  /// @param given, taken  "8 bytes", "a buffer"
  [[noreturn]] void throw_wrong_argument(std::size_t index, const std::string& given,
                                         const std::string& taken) const;
  [[noreturn]] void throw_unset_argument(std::size_t index, std::size_t count) const;

 private:
  virtual void do_set_argument(std::size_t index, const void* bytes, std::size_t size) = 0;
  virtual void do_set_buffer(std::size_t index,
                             const std::shared_ptr<buffer_interface>& buffer) = 0;
  /// For APIs with separate samplers.
  virtual void do_set_sampler(std::size_t index, const std::shared_ptr<buffer_interface>& image);
  /// For backends whose graphs do not keep these objects alive.
  virtual void do_collect(possessions&) const {}
  /// Empty if the API does not report it.
  virtual std::optional<std::size_t> do_resident_work_groups(std::size_t /*work_group_size*/,
                                                             std::size_t /*dynamic_bytes*/) const {
    return std::nullopt;
  }

  friend class program_interface;  // it knows if launches are recorded

  std::shared_ptr<context_interface> context_;
  kernel_info info_;
  std::shared_ptr<launch_record> record_;
};

/// A compiled program.
class program_interface {
 public:
  explicit program_interface(std::shared_ptr<context_interface> context)
      : context_(std::move(context)) {}
  virtual ~program_interface() = default;
  program_interface(const program_interface&) = delete;
  program_interface& operator=(const program_interface&) = delete;

  const std::shared_ptr<context_interface>& context() const noexcept { return context_; }
  std::unique_ptr<kernel_interface> create_kernel(const std::string& name) const;
  std::vector<std::byte> binary() const { return do_binary(); }
  std::shared_ptr<buffer_interface> variable(const std::string& name) const {
    return do_variable(name);
  }
  const included_files& included() const noexcept { return included_; }
  /// Called after compiling, before other threads use the program.
  void set_included(included_files files) noexcept { included_ = std::move(files); }

  /// The size of its machine code in bytes; 0 if unknown.
  std::size_t binary_bytes() const noexcept { return binary_bytes_; }
  void set_binary_bytes(std::size_t bytes) noexcept { binary_bytes_ = bytes; }

  /// Enables recording of the launches of kernels that are created from now on.
  void record_launches() const;
  /// Returns a record for each name of a kernel that has been created since.
  std::vector<std::shared_ptr<const launch_record>> launch_records() const;

 private:
  virtual std::unique_ptr<kernel_interface> do_create_kernel(const std::string& name) const = 0;
  /// Empty if the driver does not provide it.
  virtual std::vector<std::byte> do_binary() const = 0;
  /// Throws device_error if the API has no variables that the host may write.
  virtual std::shared_ptr<buffer_interface> do_variable(const std::string& name) const;

  std::shared_ptr<context_interface> context_;
  included_files included_;
  std::size_t binary_bytes_ = 0;
  mutable std::mutex records_mutex_;
  mutable bool records_ = false;
  mutable std::vector<std::shared_ptr<launch_record>> launch_records_;
};

struct queue_settings {
  bool profiling = false;  ///< true if events carry times
};

class context_interface : public std::enable_shared_from_this<context_interface> {
 public:
  explicit context_interface(std::shared_ptr<const device_interface> device)
      : device_(std::move(device)) {}
  virtual ~context_interface() = default;
  context_interface(const context_interface&) = delete;
  context_interface& operator=(const context_interface&) = delete;

  const std::shared_ptr<const device_interface>& device() const noexcept { return device_; }
  const device_info& info() const noexcept { return device_->info(); }

  std::shared_ptr<buffer_interface> create_buffer(std::size_t bytes);
  std::shared_ptr<buffer_interface> create_managed_buffer(std::size_t bytes);
  /// Creates an image. Except in kernels, it acts like a buffer with the size of all its pixels,
  /// and is always copied as a whole.
  std::shared_ptr<buffer_interface> create_image(const image_layout& layout);
  std::shared_ptr<buffer_interface> create_sub_buffer(
      const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes, std::size_t bytes);
  /// Like create_sub_buffer, at a multiple of least_alignment: as little aligned as memory that an
  /// application may wrap.
  std::shared_ptr<buffer_interface> create_part(const std::shared_ptr<buffer_interface>& parent,
                                                std::size_t offset_bytes, std::size_t bytes);
  /// The alignment that kernels can rely on for every buffer:
  /// device_limits::buffer_alignment_bytes, or less where an application's memory of any address
  /// can be wrapped.
  virtual std::size_t least_alignment() const { return info().limits.buffer_alignment_bytes; }
  std::shared_ptr<pinned_memory_interface> create_pinned_memory(std::size_t bytes);
  std::shared_ptr<queue_interface> create_queue(queue_settings settings);
  std::shared_ptr<program_interface> create_program(const program_source& source);
  std::shared_ptr<program_interface> create_program_from_binary(const std::string& name,
                                                                std::span<const std::byte> binary);
  std::string compiler_identity() const { return do_compiler_identity(); }
  memory_figures memory() const;

  /// Counts all allocations in the context towards a quota, except on threads with a
  /// memory_quota_scope. Null: no quota.
  void set_quota(std::shared_ptr<memory_quota> quota);
  /// Returns the quota for an allocation by this thread; may be null.
  std::shared_ptr<memory_quota> quota() const;

  /// Returns a description of a present capture of commands, if the calling thread can detect one:
  /// "a command_queue::capture of this thread"; empty without a capture. Tuning in this thread
  /// would break the capture, or become a part of it.
  std::string find_capture() const;
  /// While the result lives, actions of the calling thread on the device do not break a capture in
  /// another thread. May be null. Destroy it on the same thread.
  std::shared_ptr<const void> spare_captures() const { return do_spare_captures(); }

  void attach(const void* key, std::shared_ptr<const void> value);
  std::shared_ptr<const void> attachment(const void* key) const;

 private:
  std::shared_ptr<buffer_interface> create_aligned_part(
      const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes, std::size_t bytes,
      std::size_t alignment);
  virtual std::shared_ptr<buffer_interface> do_create_buffer(std::size_t bytes) = 0;
  virtual std::shared_ptr<buffer_interface> do_create_managed_buffer(std::size_t bytes) = 0;
  /// Throws device_error if the device does not support images.
  virtual std::shared_ptr<buffer_interface> do_create_image(const image_layout& layout);
  /// The parent may be a sub-buffer itself; the part is aligned and lies within it.
  virtual std::shared_ptr<buffer_interface> do_create_sub_buffer(
      const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes,
      std::size_t bytes) = 0;
  virtual std::shared_ptr<pinned_memory_interface> do_create_pinned_memory(std::size_t bytes) = 0;
  virtual std::shared_ptr<queue_interface> do_create_queue(queue_settings settings) = 0;
  virtual std::shared_ptr<program_interface> do_create_program(const program_source& source) = 0;
  /// Throws a device_error (invalid_binary) if the driver does not accept the binary.
  virtual std::shared_ptr<program_interface> do_create_program_from_binary(
      const std::string& name, std::span<const std::byte> binary) = 0;
  virtual std::string do_compiler_identity() const = 0;
  /// The total and free memory of the device; empty if the API does not report it.
  virtual std::optional<memory_figures> do_memory() const { return std::nullopt; }
  /// "a stream of the application", if the API reports a stream under capture.
  virtual std::string do_find_capture() const { return {}; }
  virtual std::shared_ptr<const void> do_spare_captures() const { return nullptr; }

  /// @param make  makes the buffer of this size
  std::shared_ptr<buffer_interface> allocate(
      std::size_t bytes, const std::function<std::shared_ptr<buffer_interface>()>& make);

  std::shared_ptr<const device_interface> device_;
  mutable std::mutex quota_mutex_;
  std::shared_ptr<memory_quota> quota_;
  mutable std::mutex attachments_mutex_;
  std::vector<std::pair<const void*, std::shared_ptr<const void>>> attachments_;
};

}  // namespace tune::detail
