// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a backend implements. Users hold the value handles (device, context, command_queue, event,
// program, kernel, buffer) and never see these. Public functions are not virtual and check what
// every backend would have to check; a backend overrides the private do_ functions only.
//
// Ownership: each object keeps what it was made from alive (a queue its context, a context its
// device). A backend may therefore downcast the objects that it is given to its own types: the
// handles have checked that they come from the same context.
//
// Errors: a do_ function throws device_error, or build_error where a source does not compile. What
// allocates, compiles or loads is a door of base/seal.hpp, here for every backend.
// Destructors log.
#pragma once

#include <array>
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
#include "libtune/device/kernel.hpp"

namespace tune::detail {

class context_interface;
class graph_interface;  // libtune/device/graph_interface.hpp

/// Objects that are kept alive, whatever they are.
using possessions = std::vector<std::shared_ptr<const void>>;
class queue_interface;

class device_interface : public std::enable_shared_from_this<device_interface> {
 public:
  explicit device_interface(device_info info) : info_(std::move(info)) {
    info_.identity = complete_identity(info_);
  }
  virtual ~device_interface() = default;
  device_interface(const device_interface&) = delete;
  device_interface& operator=(const device_interface&) = delete;

  const device_info& info() const noexcept { return info_; }
  std::shared_ptr<context_interface> create_context(context_options options) const;

 private:
  virtual std::shared_ptr<context_interface> do_create_context(context_options options) const = 0;

  device_info info_;
};

/// Device memory, not typed.
class buffer_interface : public std::enable_shared_from_this<buffer_interface> {
 public:
  /// @param host_data  where the host sees it at all times, if it does
  buffer_interface(std::shared_ptr<context_interface> context, std::size_t bytes,
                   void* host_data = nullptr)
      : context_(std::move(context)), bytes_(bytes), host_data_(host_data) {}
  /// A part of a buffer, which it keeps alive; the host sees it where it sees the whole.
  buffer_interface(std::shared_ptr<const buffer_interface> parent, std::size_t offset_bytes,
                   std::size_t bytes);
  virtual ~buffer_interface();
  buffer_interface(const buffer_interface&) = delete;
  buffer_interface& operator=(const buffer_interface&) = delete;

  const std::shared_ptr<context_interface>& context() const noexcept { return context_; }
  std::size_t bytes() const noexcept { return bytes_; }
  void* host_data() const noexcept { return host_data_; }

 private:
  friend class queue_interface;    // which checks before it maps
  friend class context_interface;  // which knows what it allocates

  /// For memory that the host does not see at all times. Null: the host never sees it.
  virtual void* do_map(queue_interface&, bool /*blocking*/) { return nullptr; }
  /// data is what do_map returned, for the same queue.
  virtual void do_unmap(queue_interface&, void* /*data*/) {}

  std::shared_ptr<context_interface> context_;
  std::shared_ptr<const buffer_interface> parent_;
  std::size_t bytes_;
  void* host_data_;
  bool allocated_ = false;  // for it alone, so that it is released with it
};

/// Host memory that copies are fast with. Backends derive to release it.
class pinned_memory_interface {
 public:
  pinned_memory_interface(void* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}
  virtual ~pinned_memory_interface();
  pinned_memory_interface(const pinned_memory_interface&) = delete;
  pinned_memory_interface& operator=(const pinned_memory_interface&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  friend class context_interface;  // which knows the device

  void* data_;
  std::size_t bytes_;
  std::shared_ptr<const device_interface> device_;
};

/// A command in a queue, or a marker between commands.
class event_interface {
 public:
  event_interface() = default;
  virtual ~event_interface() = default;
  event_interface(const event_interface&) = delete;
  event_interface& operator=(const event_interface&) = delete;

  void wait() const { do_wait(); }
  bool is_complete() const { return do_is_complete(); }
  std::chrono::nanoseconds duration() const { return do_duration(); }
  std::chrono::nanoseconds time_since(const event_interface& prior) const {
    return do_time_since(prior);
  }

 private:
  virtual void do_wait() const = 0;
  virtual bool do_is_complete() const = 0;
  /// Device time from the command's start to its end, after waiting for it; zero for a marker.
  virtual std::chrono::nanoseconds do_duration() const = 0;
  /// Device time from the end of prior to the start of this, after waiting for both.
  virtual std::chrono::nanoseconds do_time_since(const event_interface& prior) const = 0;
};

/// One kernel with the arguments that the next launch will use. Not thread-safe.
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
  /// Adds what a launch with the present arguments uses.
  void collect(possessions& used) const { do_collect(used); }
  std::optional<std::size_t> resident_work_groups(std::size_t work_group_size,
                                                  std::size_t dynamic_bytes) const {
    return do_resident_work_groups(work_group_size, dynamic_bytes);
  }

 protected:
  // What is wrong with an argument, in the same words for every backend: device_error
  // (invalid_launch).
  [[noreturn]] void refuse_argument(std::size_t index, const std::string& reason) const;
  /// @param count  how many it takes
  [[noreturn]] void throw_no_argument(std::size_t index, std::size_t count) const;
  /// @param given, taken  "8 bytes", "a buffer"
  [[noreturn]] void throw_wrong_argument(std::size_t index, const std::string& given,
                                         const std::string& taken) const;
  [[noreturn]] void throw_unset_argument(std::size_t index, std::size_t count) const;

 private:
  virtual void do_set_argument(std::size_t index, const void* bytes, std::size_t size) = 0;
  virtual void do_set_buffer(std::size_t index,
                             const std::shared_ptr<buffer_interface>& buffer) = 0;
  /// For backends whose graphs do not keep it themselves.
  virtual void do_collect(possessions&) const {}
  /// Empty where the API does not tell.
  virtual std::optional<std::size_t> do_resident_work_groups(std::size_t /*work_group_size*/,
                                                             std::size_t /*dynamic_bytes*/) const {
    return std::nullopt;
  }

  std::shared_ptr<context_interface> context_;
  kernel_info info_;
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

 private:
  virtual std::unique_ptr<kernel_interface> do_create_kernel(const std::string& name) const = 0;
  /// Empty if the driver does not hand it out.
  virtual std::vector<std::byte> do_binary() const = 0;

  std::shared_ptr<context_interface> context_;
};

/// One side of a copy: device memory where buffer is set, else host memory.
struct copy_side {
  const buffer_interface* buffer = nullptr;
  void* host = nullptr;               ///< never written if it is the source
  std::size_t offset_bytes = 0;       ///< of the first byte
  std::size_t row_pitch_bytes = 0;    ///< from one row to the next
  std::size_t slice_pitch_bytes = 0;  ///< from one slice to the next
};

/// A copy of slices x rows x bytes. At least one side is a buffer. Where there are several rows or
/// slices the pitches that lead to them are given on both sides, no less than what they step over;
/// otherwise they do not matter. Source and destination do not overlap; within one buffer both
/// sides have the same pitches.
struct copy_request {
  copy_side source;
  copy_side destination;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t slices = 1;
  bool blocking = true;  ///< whether to return only when the host memory may be used again
};

struct queue_settings {
  bool profiling = false;  ///< whether events carry times
};

/// An in-order queue of commands.
class queue_interface {
 public:
  queue_interface(std::shared_ptr<context_interface> context, queue_settings settings);
  virtual ~queue_interface();
  queue_interface(const queue_interface&) = delete;
  queue_interface& operator=(const queue_interface&) = delete;

  const std::shared_ptr<context_interface>& context() const noexcept { return context_; }
  bool profiling() const noexcept { return settings_.profiling; }

  void launch(kernel_interface& kernel, const nd_range& range);
  std::shared_ptr<event_interface> launch_with_event(kernel_interface& kernel,
                                                     const nd_range& range);
  void copy(const copy_request& request);
  void fill(const buffer_interface& buffer, const fill_region& region,
            std::span<const std::byte> pattern);
  std::shared_ptr<event_interface> mark();
  void wait_for(std::span<const std::shared_ptr<event_interface>> events);
  void flush();
  void finish();

  /// Records what enqueue() puts on this queue into graph, which is null or one that an earlier
  /// call has made. False, without calling enqueue, if the queue cannot.
  bool capture(std::shared_ptr<graph_interface>& graph, const std::function<void()>& enqueue);
  bool is_capturing() const noexcept { return captured_ != nullptr; }
  void launch(graph_interface& graph);

  /// See command_queue::map.
  void* map(buffer_interface& buffer, bool blocking);
  void unmap(buffer_interface& buffer, void* data);

  /// While recording, every kernel launch and fill leaves an event behind. Needs profiling.
  void start_recording();
  std::vector<std::shared_ptr<event_interface>> stop_recording();
  std::size_t recorded() const noexcept { return recorded_.size(); }

 protected:
  /// The door (base/seal.hpp) that do_capture comes to before it captures into a new graph.
  void check_new_graph() const;

 private:
  using event_pointer = std::shared_ptr<event_interface>;

  /// event is null where nobody wants one; otherwise the function sets it.
  virtual void do_launch(kernel_interface& kernel, const nd_range& range, event_pointer* event) = 0;
  virtual void do_copy(const copy_request& request) = 0;
  /// One command, whose pattern divides each row. The region is merged and not empty, the pattern
  /// the shortest of its meaning: see fill_parts.hpp.
  virtual void do_fill(const buffer_interface& buffer, const fill_region& region,
                       std::span<const std::byte> pattern, event_pointer* event) = 0;
  virtual event_pointer do_mark() = 0;
  virtual void do_wait_for(std::span<const event_pointer> events) = 0;
  virtual void do_flush() = 0;
  virtual void do_finish() = 0;
  /// As capture. Where it throws, the queue is usable and nothing has been recorded; a given graph
  /// stays what it was if enqueue threw.
  virtual bool do_capture(std::shared_ptr<graph_interface>& graph,
                          const std::function<void()>& enqueue);

  void check_launch(const kernel_interface& kernel, const nd_range& range) const;
  void refuse_while_capturing(const char* what) const;
  void keep(const buffer_interface& buffer);

  std::shared_ptr<context_interface> context_;
  queue_settings settings_;
  bool recording_ = false;  // never while capturing
  std::vector<event_pointer> recorded_;
  possessions* captured_ = nullptr;  // what the commands use that are being captured
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
  std::shared_ptr<buffer_interface> create_sub_buffer(
      const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes, std::size_t bytes);
  std::shared_ptr<pinned_memory_interface> create_pinned_memory(std::size_t bytes);
  std::shared_ptr<queue_interface> create_queue(queue_settings settings);
  std::shared_ptr<program_interface> create_program(const program_source& source);
  std::shared_ptr<program_interface> create_program_from_binary(const std::string& name,
                                                                std::span<const std::byte> binary);
  std::string compiler_identity() const { return do_compiler_identity(); }

  void attach(const void* key, std::shared_ptr<const void> value);
  std::shared_ptr<const void> attachment(const void* key) const;

 private:
  virtual std::shared_ptr<buffer_interface> do_create_buffer(std::size_t bytes) = 0;
  virtual std::shared_ptr<buffer_interface> do_create_managed_buffer(std::size_t bytes) = 0;
  /// The parent may be a sub-buffer itself; the part is aligned and lies within it.
  virtual std::shared_ptr<buffer_interface> do_create_sub_buffer(
      const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes,
      std::size_t bytes) = 0;
  virtual std::shared_ptr<pinned_memory_interface> do_create_pinned_memory(std::size_t bytes) = 0;
  virtual std::shared_ptr<queue_interface> do_create_queue(queue_settings settings) = 0;
  virtual std::shared_ptr<program_interface> do_create_program(const program_source& source) = 0;
  /// A binary that the driver does not accept is a device_error (invalid_binary).
  virtual std::shared_ptr<program_interface> do_create_program_from_binary(
      const std::string& name, std::span<const std::byte> binary) = 0;
  virtual std::string do_compiler_identity() const = 0;

  std::shared_ptr<const device_interface> device_;
  mutable std::mutex attachments_mutex_;
  std::vector<std::pair<const void*, std::shared_ptr<const void>>> attachments_;
};

}  // namespace tune::detail
