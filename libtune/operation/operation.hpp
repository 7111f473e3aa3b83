// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/array/device_array.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/operation/slot.hpp"

namespace tune {

/// Returns a number larger than all that it has returned before in this process; it marks a change.
/// Thread-safe.
std::uint64_t next_version() noexcept;

struct named_operation;

/// A slot with the name that an operation gives it.
struct named_slot {
  std::string name;                  ///< "child:slot" for a child's slot in a sequence
  std::shared_ptr<tune::slot> slot;  ///< not null
};

/// The name of a slot; "child:slot" for a child's slot in a sequence.
struct slot_reference {
  /// Refers to a slot that may be missing if is_optional.
  slot_reference(std::string its_name, bool is_optional = false)  // NOLINT: a name refers to a slot
      : name(std::move(its_name)), optional(is_optional) {}
  /// Refers to a slot that must exist.
  slot_reference(const char* its_name) : name(its_name) {}  // NOLINT: likewise

  std::string name;       ///< "slot" or "child:slot"
  bool optional = false;  ///< true if an operation may lack the slot
};

/// Refers to a slot that some variants of the operation do not have.
inline slot_reference optional_slot(std::string name) { return {std::move(name), true}; }

namespace detail {
template <class T>
struct slot_with {
  using type = typed_slot<T>;
};
template <>
struct slot_with<void> {
  using type = io_slot;
};
}  // namespace detail

/// A reference to a slot, for a member of the operation that has added it. Unlike with a C++
/// reference, operations with such members can be move-assigned by default:
///
///   tune::slot_ref<float> dest_;  // a typed_slot<float>
///   tune::slot_ref<> src_;        // an io_slot, whose type is known at run time
///   ...
///   enqueue(kernel_, range_, dest_, src_, dest_->buffer().layout().padded()[1]);
///
/// Slots lie on the heap and belong to their operation: the reference is valid as long as that
/// operation, or the one that it is moved to.
template <class T = void>
class slot_ref {
 public:
  /// typed_slot<T>, or io_slot where T is void.
  using slot_type = typename detail::slot_with<T>::type;

  /// Refers to a slot, which has to outlive this object.
  slot_ref(slot_type& slot) noexcept : slot_(&slot) {}  // NOLINT: what add_slot returns

  /// Accesses the members of the slot.
  slot_type* operator->() const noexcept { return slot_; }
  /// The slot.
  slot_type& operator*() const noexcept { return *slot_; }
  /// Converts to a reference to the slot.
  operator slot_type&() const noexcept { return *slot_; }  // NOLINT: as a reference would

 private:
  slot_type* slot_;
};

/// An array for the slot of this name.
struct binding {
  std::string_view name;  ///< of a slot; the text has to live until bind returns
  device_array array;     ///< with the type, shape and padding that the slot requires
};

/// One or several kernels for given sizes and a command queue, with named slots for the arrays.
/// Templates make operations; making one is cheap, and it owns its kernel objects. Derived classes
/// add their slots in the constructor and enqueue their work in do_run.
///
/// It can be moved. A moved-from operation can be destroyed or assigned to; it has no slots, and
/// running it or asking for its queue or a slot throws an argument_error.
///
/// Not thread-safe. Operations from one template may run on different threads, if they share no
/// dimension and each has its own queue.
class operation {
 public:
  virtual ~operation();
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  /// The queue that run enqueues on. @throws argument_error if the operation was moved from
  command_queue& queue() {
    check_not_moved_from();
    return queue_;
  }
  /// The same for a constant operation.
  const command_queue& queue() const {
    check_not_moved_from();
    return queue_;
  }

  /// The slots that have to be bound, in the order of their addition.
  std::span<const named_slot> slots() const noexcept { return slots_; }
  /// The slots of a sequence that are parts of slots(), under their previous names. They can be
  /// looked up, but not bound.
  std::span<const named_slot> hidden_slots() const noexcept { return hidden_slots_; }
  /// The names of slots().
  std::vector<std::string> slot_names() const;

  /// Finds a slot, including hidden ones. @throws argument_error that lists the names if there is
  /// no such slot, type_error if it is an alias, which any_slot finds
  io_slot& slot(std::string_view name);
  /// The same for a constant operation.
  const io_slot& slot(std::string_view name) const;
  /// Finds a slot of any kind, including aliases and hidden ones.
  /// @throws argument_error that lists the names, if there is no such slot
  tune::slot& any_slot(std::string_view name);
  /// The same for a constant operation.
  const tune::slot& any_slot(std::string_view name) const;

  /// Binds an array of the queue's context to a slot; see io_slot::bind.
  void bind(std::string_view name, const device_array& array) { slot(name).bind(array); }
  /// Binds memory to a slot of any kind; see slot::bind.
  void bind(std::string_view name, const tune::buffer& memory) { any_slot(name).bind(memory); }
  /// Binds all of these arrays or, if one is refused, none. @throws argument_error if a slot is
  /// repeated
  void bind(std::initializer_list<binding> bindings) {
    bind(std::span<const binding>(bindings.begin(), bindings.size()));
  }
  /// Binds several arrays whose number is known at run time only.
  void bind(std::span<const binding> bindings);
  /// The array that is bound to a slot. @throws argument_error if the slot is unbound
  const device_array& buffer(std::string_view name) const { return slot(name).buffer(); }

  /// Sets the source of memory for later calls of ensure_bound, ensure_all_bound and run; null: the
  /// queue's context. A sequence uses its own source for its slots, not that of its children.
  /// @throws argument_error if it belongs to another context
  void set_allocator(std::shared_ptr<allocator> memory);

  /// Allocates and binds memory if the slot is unbound; for a hidden slot, if its root is. On
  /// failure, earlier bindings stay.
  /// @throws device_error if there is no memory
  void ensure_bound(std::string_view name) { ensure_bound(any_slot(name)); }
  /// Allocates and binds memory for all unbound slots(). @throws argument_error also if the
  /// operation was moved from
  void ensure_all_bound();

  /// The number of bytes that ensure_all_bound would allocate if all slots were unbound.
  std::size_t required_bytes() const;

  /// A description of the operation for logs, records and drawings: sizes, element types, scalar
  /// arguments and the tuning, as returned by the derived class (see parameter_list). A sequence
  /// returns its children's, as "child:name".
  std::vector<named_value> parameters() const { return do_parameters(); }

  /// The operations that this one runs; empty unless it is a sequence.
  std::span<const named_operation> children() const noexcept { return do_children(); }

  /// A number that changes whenever a binding changes here or in a child, and after
  /// parameters_changed: while it is the same, each run enqueues exactly the same work. Different
  /// states of the operations of a process have different numbers. Allocates nothing.
  std::uint64_t version() const noexcept;

  /// Binds memory to unbound slots, then enqueues the work and returns without waiting for it. If
  /// all slots are bound it allocates nothing. @throws argument_error if the operation was moved
  /// from
  void run();
  /// Calls run().
  void operator()() { run(); }

 protected:
  /// Makes an operation without slots.
  /// @param queue   the queue to enqueue on
  /// @param memory  source of memory; see set_allocator
  /// @throws argument_error if memory belongs to another context than the queue
  explicit operation(command_queue queue, std::shared_ptr<allocator> memory = nullptr);
  /// Moves the slots along; references to them stay valid.
  operation(operation&&) noexcept;
  /// Releases this operation's slots, then moves like the constructor.
  operation& operator=(operation&&) noexcept;

  /// Adds a slot; the reference stays valid when the operation is moved. For members, see slot_ref.
  /// @throws argument_error if the name is taken
  io_slot& add_slot(std::string name, std::vector<dimension> dimensions, element_type type,
                    padding_policy policy = padding_policy::required);
  /// Adds a slot whose type is known at compile time.
  template <element T>
  typed_slot<T>& add_slot(std::string name, std::vector<dimension> dimensions,
                          padding_policy policy = padding_policy::required) {
    auto made = std::make_shared<typed_slot<T>>(std::move(name), std::move(dimensions), policy);
    typed_slot<T>& added = *made;
    add(std::move(made));
    return added;
  }

  /// Call it after a change of anything that do_run enqueues besides the bindings, such as a scalar
  /// argument or a range.
  void parameters_changed() noexcept { version_ = next_version(); }

  /// Sets a kernel's arguments and enqueues it. An io_slot or slot_ref is passed as the buffer that
  /// is bound to it, anything else unchanged.
  template <class... Arguments>
  void enqueue(kernel& kernel, const nd_range& range, const Arguments&... arguments) {
    kernel.set_arguments(as_argument(arguments)...);
    queue_.enqueue(kernel, range);
  }

 private:
  friend class operation_sequence;

  template <class T>
  static const auto& as_argument(const T& argument) {
    if constexpr (std::derived_from<T, io_slot>) {
      return argument.buffer().buffer();
    } else {
      return argument;
    }
  }
  template <class T>
  static const tune::buffer& as_argument(const slot_ref<T>& argument) {
    return argument->buffer().buffer();
  }

  void check_not_moved_from() const {
    if (queue_.impl() == nullptr) throw_moved_from();
  }
  [[noreturn]] static void throw_moved_from();

  virtual void do_run() = 0;
  virtual std::vector<named_value> do_parameters() const { return {}; }
  virtual std::span<const named_operation> do_children() const noexcept { return {}; }

  void add(std::shared_ptr<io_slot> slot);
  void ensure_bound(tune::slot& slot);

  command_queue queue_;
  std::shared_ptr<allocator> memory_;  // null: the queue's context
  std::vector<named_slot> slots_;
  std::vector<named_slot> hidden_slots_;
  std::uint64_t version_ = next_version();
  bool in_sequence_ = false;
};

/// An operation with its name in a sequence.
struct named_operation {
  /// Shares the operation with the caller.
  named_operation(std::string its_name, std::shared_ptr<tune::operation> its_operation)
      : name(std::move(its_name)), operation(std::move(its_operation)) {}
  /// Moves the operation into the sequence.
  template <std::derived_from<tune::operation> Operation>
  named_operation(std::string its_name, Operation&& its_operation)
      : name(std::move(its_name)),
        operation(std::make_shared<Operation>(std::forward<Operation>(its_operation))) {}

  std::string name;                            ///< not empty, without ':'
  std::shared_ptr<tune::operation> operation;  ///< not null
};

/// Runs an operation or a sequence by one launch of a command graph, which costs the host about as
/// much as one kernel. The first run records the graph, and so does the first run after each change
/// of operation::version(): after a slot was bound or a parameter was set. If the device has no
/// graphs, run() calls that of the operation.
///
/// The operation has to enqueue all of its work on its queue(), without anything that
/// command_queue::capture refuses. Other effects of its do_run take place only when it is recorded.
/// The buffers and kernels of the last recording are kept alive. Not thread-safe.
class captured_operation {
 public:
  /// @param operation  has to outlive this object
  explicit captured_operation(tune::operation& operation) noexcept : operation_(&operation) {}

  /// The captured operation.
  tune::operation& operation() const noexcept { return *operation_; }

  /// Binds memory to unbound slots, then enqueues the work and returns without waiting for it.
  /// Allocates nothing unless a slot is unbound or it records. While other code captures the queue,
  /// the work becomes part of that capture.
  /// @throws any exception of the operation during recording; the next run records again
  void run();
  /// Calls run().
  void operator()() { run(); }

  /// The number of recordings; 0 if the device has no graphs.
  std::size_t captures() const noexcept { return captures_; }

 private:
  void renew();

  tune::operation* operation_;
  std::optional<std::uint64_t> version_;  // of the operation at the last recording
  std::optional<command_queue> queue_;    // the queue of the last recording
  std::optional<command_graph> graph_;    // empty if the device has no graphs
  std::size_t captures_ = 0;
};

}  // namespace tune
