// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/nd_range.hpp"
#include "libtune/operation/io_slot.hpp"
#include "libtune/operation/version.hpp"

namespace tune {

/// A kernel, or several, made for given sizes and a command queue, with named slots for its arrays.
/// A template makes it and it is cheap to make; it owns its kernel objects. Derived classes add
/// their slots in the constructor and enqueue their work in do_run.
///
/// Not thread-safe; operations that were made from one template may run on different threads.
class operation {
 public:
  virtual ~operation() = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  command_queue& queue() noexcept { return queue_; }

  /// The names of the slots, in the order in which they were added.
  std::vector<std::string> slot_names() const;
  /// @throws argument_error that lists the names, if there is no such slot
  io_slot& slot(std::string_view name);
  const io_slot& slot(std::string_view name) const;

  /// Binds an array of the queue's context to a slot; see io_slot::bind.
  void bind(std::string_view name, const device_array& array);
  /// The array that is bound to a slot. @throws argument_error if there is none
  const device_array& buffer(std::string_view name) const { return slot(name).buffer(); }

  /// Allocates and binds an array where none is bound. If that fails, what has been bound so far
  /// stays bound. @throws device_error if there is no memory
  void ensure_bound(std::string_view name);
  void ensure_all_bound();

  /// The bytes that ensure_all_bound would allocate if nothing were bound.
  std::size_t required_bytes() const;

  /// A number that is another one after any change of what is bound here or in a child, and after
  /// parameters_changed: as long as it stays, a run enqueues the very same work. No two states of
  /// operations in this process share a number.
  std::uint64_t version() const noexcept;

  /// Binds what is missing, then enqueues the work and returns without waiting for it. Once all is
  /// bound it allocates nothing.
  void run();
  void operator()() { run(); }

 protected:
  explicit operation(command_queue queue) noexcept : queue_(std::move(queue)) {}
  operation(operation&&) noexcept = default;
  operation& operator=(operation&&) noexcept = default;

  /// Adds a slot; the reference stays valid when the operation is moved.
  /// @throws argument_error if the name is taken
  io_slot& add_slot(std::string name, std::initializer_list<dimension> dimensions,
                    element_type type);

  /// To be called when something that do_run enqueues, other than what is bound, has changed: a
  /// scalar argument, a range.
  void parameters_changed() noexcept { version_ = next_version(); }

  /// Sets a kernel's arguments and enqueues it: an io_slot stands for the buffer that is bound to
  /// it, anything else for itself.
  template <class... Arguments>
  void enqueue(kernel& kernel, const nd_range& range, const Arguments&... arguments) {
    kernel.set_arguments(as_argument(arguments)...);
    queue_.enqueue(kernel, range);
  }

 private:
  static const tune::buffer& as_argument(const io_slot& slot) { return slot.buffer().buffer(); }
  template <class T>
  static const T& as_argument(const T& value) {
    return value;
  }

  virtual void do_run() = 0;

  void ensure_bound(io_slot& slot);

  command_queue queue_;
  std::vector<std::unique_ptr<io_slot>> slots_;
  std::uint64_t version_ = next_version();
};

}  // namespace tune
