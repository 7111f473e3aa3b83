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

/// A number larger than any that this gave out before in this process; it marks a change.
/// Thread-safe.
std::uint64_t next_version() noexcept;

struct named_operation;

/// A slot with the name that an operation gives it.
struct named_slot {
  std::string name;                  ///< "child:slot" for that of a child of a sequence
  std::shared_ptr<tune::slot> slot;  ///< not null
};

/// The name of a slot, "child:slot" for that of a sequence's child.
struct slot_reference {
  /// From a name, and whether the slot need not be there.
  slot_reference(std::string its_name, bool is_optional = false)  // NOLINT: a name refers to a slot
      : name(std::move(its_name)), optional(is_optional) {}
  /// From a name; the slot has to be there.
  slot_reference(const char* its_name) : name(its_name) {}  // NOLINT: likewise

  std::string name;       ///< "slot" or "child:slot"
  bool optional = false;  ///< true if an operation may lack the slot
};

/// A slot that need not be there, because some variants of the operation do not have it.
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

/// A reference to a slot, for the operation that has added it. It refers to the slot as a reference
/// does, but an operation of such members can be move-assigned without further ado:
///
///   tune::slot_ref<float> dest_;  // a typed_slot<float>
///   tune::slot_ref<> src_;        // an io_slot, whose type is known at run time
///   ...
///   enqueue(kernel_, range_, dest_, src_, dest_->buffer().layout().padded()[1]);
///
/// Slots lie on the heap and go with the operation that has them: it is valid as long as that
/// operation, and what that is moved to.
template <class T = void>
class slot_ref {
 public:
  /// typed_slot<T>, or io_slot where T is void.
  using slot_type = typename detail::slot_with<T>::type;

  /// Refers to a slot that lives as long as this is used.
  slot_ref(slot_type& slot) noexcept : slot_(&slot) {}  // NOLINT: what add_slot returns

  /// Reaches the members of the slot.
  slot_type* operator->() const noexcept { return slot_; }
  /// The slot.
  slot_type& operator*() const noexcept { return *slot_; }
  /// The slot, where a reference to one is wanted.
  operator slot_type&() const noexcept { return *slot_; }  // NOLINT: as a reference would

 private:
  slot_type* slot_;
};

/// An array for the slot of this name.
struct binding {
  std::string_view name;  ///< of a slot; its text has to live until the call of bind returns
  device_array array;     ///< of the type, shape and padding that the slot asks for
};

/// A kernel, or several, made for given sizes and a command queue, with named slots for its arrays.
/// A template makes it and it is cheap to make; it owns its kernel objects. Derived classes add
/// their slots in the constructor and enqueue their work in do_run.
///
/// It can be moved. The one that was moved from can be destroyed or assigned to; it has no slots,
/// and to run it, or to ask for its queue or a slot, is an argument_error.
///
/// Not thread-safe; operations that were made from one template may run on different threads, if
/// they share no dimension and have each a queue.
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

  /// The slots that have to be bound, in the order in which they were added.
  std::span<const named_slot> slots() const noexcept { return slots_; }
  /// The slots of a sequence that are parts of those, by the names that they had. They may be asked
  /// for, not bound.
  std::span<const named_slot> hidden_slots() const noexcept { return hidden_slots_; }
  /// The names of slots().
  std::vector<std::string> slot_names() const;

  /// A slot, which may be a hidden one. @throws argument_error that lists the names, if there is no
  /// such slot, type_error if it is an alias, which any_slot finds
  io_slot& slot(std::string_view name);
  /// The same for a constant operation.
  const io_slot& slot(std::string_view name) const;
  /// A slot of any kind, aliases and hidden ones too.
  /// @throws argument_error that lists the names, if there is no such slot
  tune::slot& any_slot(std::string_view name);
  /// The same for a constant operation.
  const tune::slot& any_slot(std::string_view name) const;

  /// Binds an array of the queue's context to a slot; see io_slot::bind.
  void bind(std::string_view name, const device_array& array) { slot(name).bind(array); }
  /// Binds memory to a slot of any kind; see slot::bind.
  void bind(std::string_view name, const tune::buffer& memory) { any_slot(name).bind(memory); }
  /// Binds all of these or, if one is refused, none. @throws argument_error if a slot comes twice
  void bind(std::initializer_list<binding> bindings) {
    bind(std::span<const binding>(bindings.begin(), bindings.size()));
  }
  /// The same for bindings whose number is known at run time only.
  void bind(std::span<const binding> bindings);
  /// The array that is bound to a slot. @throws argument_error if there is none
  const device_array& buffer(std::string_view name) const { return slot(name).buffer(); }

  /// Where the memory for ensure_bound, ensure_all_bound and run comes from, from now on; null is
  /// the queue's context. A sequence uses its own for its slots, not that of its children.
  /// @throws argument_error if it belongs to another context
  void set_allocator(std::shared_ptr<allocator> memory);

  /// Allocates and binds memory where nothing is bound; for a hidden slot, to the one that it is
  /// part of. If that fails, what has been bound so far stays bound.
  /// @throws device_error if there is no memory
  void ensure_bound(std::string_view name) { ensure_bound(any_slot(name)); }
  /// The same for all of slots(). @throws argument_error also if the operation was moved from
  void ensure_all_bound();

  /// The bytes that ensure_all_bound would allocate if nothing were bound.
  std::size_t required_bytes() const;

  /// A description of the operation, for logs, records and drawings: sizes, element types, scalar
  /// arguments and the tuning, as the derived class returns them (see parameter_list). A sequence
  /// has those of its children, as "child:name".
  std::vector<named_value> parameters() const { return do_parameters(); }

  /// The operations that this one runs; none unless it is a sequence.
  std::span<const named_operation> children() const noexcept { return do_children(); }

  /// A number that is another one after any change of what is bound here or in a child, and after
  /// parameters_changed: as long as it stays, a run enqueues the very same work. No two states of
  /// operations in this process share a number. Allocates nothing.
  std::uint64_t version() const noexcept;

  /// Binds what is missing, then enqueues the work and returns without waiting for it. Once all is
  /// bound it allocates nothing. @throws argument_error if the operation was moved from
  void run();
  /// The same as run().
  void operator()() { run(); }

 protected:
  /// An operation without slots.
  /// @param queue   the queue to enqueue on
  /// @param memory  see set_allocator
  /// @throws argument_error if memory belongs to another context than the queue
  explicit operation(command_queue queue, std::shared_ptr<allocator> memory = nullptr);
  /// Slots move along; references to them stay valid.
  operation(operation&&) noexcept;
  /// The same, after letting go of the slots that this operation had.
  operation& operator=(operation&&) noexcept;

  /// Adds a slot; the reference stays valid when the operation is moved. To keep it as a member,
  /// see slot_ref.
  /// @throws argument_error if the name is taken
  io_slot& add_slot(std::string name, std::vector<dimension> dimensions, element_type type,
                    padding_policy policy = padding_policy::required);
  /// Adds a slot whose type the compiler knows.
  template <element T>
  typed_slot<T>& add_slot(std::string name, std::vector<dimension> dimensions,
                          padding_policy policy = padding_policy::required) {
    auto made = std::make_shared<typed_slot<T>>(std::move(name), std::move(dimensions), policy);
    typed_slot<T>& added = *made;
    add(std::move(made));
    return added;
  }

  /// To be called when something that do_run enqueues, other than what is bound, has changed: a
  /// scalar argument, a range.
  void parameters_changed() noexcept { version_ = next_version(); }

  /// Sets a kernel's arguments and enqueues it: an io_slot, or a slot_ref, stands for the buffer
  /// that is bound to it, anything else for itself.
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

/// An operation with the name that a sequence gives it.
struct named_operation {
  /// Shares the operation with the caller.
  named_operation(std::string its_name, std::shared_ptr<tune::operation> its_operation)
      : name(std::move(its_name)), operation(std::move(its_operation)) {}
  /// Moves the operation to where the sequence keeps it.
  template <std::derived_from<tune::operation> Operation>
  named_operation(std::string its_name, Operation&& its_operation)
      : name(std::move(its_name)),
        operation(std::make_shared<Operation>(std::forward<Operation>(its_operation))) {}

  std::string name;                            ///< not empty, without ':'
  std::shared_ptr<tune::operation> operation;  ///< a sequence refuses null
};

/// Runs an operation, or a sequence of them, by one launch of a command graph, which costs the host
/// about as much as one kernel. The graph is recorded by the first run, and again by the first run
/// after operation::version() has changed: after a slot was bound or a parameter was set. Where the
/// device has no graphs, run() is that of the operation.
///
/// The operation enqueues all of its work on its queue(), and nothing that command_queue::capture
/// refuses. What its do_run does besides happens only when it is recorded. The buffers and kernels
/// of the last recording are kept alive. Not thread-safe.
class captured_operation {
 public:
  /// @param operation  outlives this
  explicit captured_operation(tune::operation& operation) noexcept : operation_(&operation) {}

  /// The operation that is captured, which the caller keeps alive.
  tune::operation& operation() const noexcept { return *operation_; }

  /// Binds what is missing, then enqueues the work and returns without waiting for it. Allocates
  /// nothing unless something is to be bound or recorded. While the queue is being captured by
  /// other code, the work becomes part of that capture.
  /// @throws whatever the operation throws when it is recorded; the next run tries again
  void run();
  /// The same as run().
  void operator()() { run(); }

  /// The number of recordings; 0 where the device has no graphs.
  std::size_t captures() const noexcept { return captures_; }

 private:
  void renew();

  tune::operation* operation_;
  std::optional<std::uint64_t> version_;  // of the operation when it was last recorded
  std::optional<command_queue> queue_;    // that the graph was recorded on
  std::optional<command_graph> graph_;    // empty where there can be none
  std::size_t captures_ = 0;
};

}  // namespace tune
