// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/base/dtype.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/context.hpp"
#include "libtune/operation/dimension.hpp"

namespace tune {

/// A place for memory in an operation. An io_slot takes an array; a compound_slot takes one array
/// for several slots; an alias_slot takes one piece of memory, in which each of several slots has
/// an array. The last two own their parts, so slots form trees. Only the root of a tree may be
/// bound, allocated or unbound, which affects the whole tree. When the owner of a slot is
/// destroyed, the slot becomes a root again, and its binding stays. Not thread-safe.
class slot {
 public:
  virtual ~slot();
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;

  /// The name given at construction, without the prefix "child:" of a sequence.
  const std::string& name() const noexcept { return name_; }

  /// The compound or alias that this slot is a part of; null for a root.
  const slot* owner() const noexcept { return owner_; }
  /// The slot at the top of the tree: this one if it has no owner.
  slot& root() noexcept;
  /// The parts of a compound or alias.
  std::span<const std::shared_ptr<slot>> children() const noexcept { return children_; }

  /// True if memory is bound to this slot, or by its root to the whole tree.
  bool is_bound() const noexcept { return bound_; }
  /// A number that changes with the binding; see operation::version.
  std::uint64_t version() const noexcept { return version_; }

  /// The smallest number of bytes that can be bound.
  std::size_t required_bytes() const { return do_required_bytes(); }

  /// Binds memory, which the slot lays out as it requires. On failure the previous binding stays.
  /// @throws argument_error if it is too small, belongs to another context than the operation, or
  /// this is not a root slot
  void bind(const buffer& memory);
  /// Allocates memory that fits, and binds it. On failure the previous binding stays.
  /// @param memory  source of the memory, in the context of the operation
  /// @param bind    false: only allocates spare memory, to bind later
  /// @throws device_error if there is no memory, argument_error as bind
  buffer allocate_buffer(allocator& memory, bool bind = true);
  /// Allocates the memory from a context.
  buffer allocate_buffer(const context& context, bool bind = true);
  /// @throws argument_error if this is not a root slot
  void unbind();

  /// Refuses memory of other contexts from now on. Operations call it for the slots that they add.
  void restrict_to(const context& context) { context_ = context; }

  /// All dimensions in the tree below this slot.
  std::vector<dimension> all_dimensions() const;

 protected:
  /// An unbound root.
  explicit slot(std::string name);

  /// Takes ownership of children. Call it last in a constructor.
  void adopt(std::vector<std::shared_ptr<slot>> children) noexcept;
  /// @throws argument_error unless each child exists, is an unbound root of the same context, and
  ///         occurs once
  static void check_children(const std::string& owner,
                             std::span<const std::shared_ptr<slot>> children);

  /// @throws argument_error that names the root, if this is not a root
  void check_root() const;
  /// @throws argument_error if this is another context than that of restrict_to
  void check_context(const detail::context_interface& context) const;
  /// Sets is_bound() and changes version().
  void mark_changed(bool bound) noexcept;

  /// Binds memory to a child, without the checks of bind.
  static void assign(slot& target, const buffer& memory) { target.do_assign(memory); }
  /// Unbinds a child, which need not be a root.
  static void release(slot& target) noexcept { target.do_release(); }

 private:
  virtual std::size_t do_required_bytes() const = 0;
  virtual void do_assign(const buffer& memory) = 0;
  virtual void do_release() noexcept = 0;
  virtual void do_collect(std::vector<dimension>& dimensions) const = 0;

  std::string name_;
  const slot* owner_ = nullptr;
  std::vector<std::shared_ptr<slot>> children_;
  std::optional<tune::context> context_;
  std::uint64_t version_;
  bool bound_ = false;
};

/// The valid paddings of a slot's dimensions that the slot accepts.
enum class padding_policy : std::uint8_t {
  /// Only the strides of required_layout. Slots that share dimensions thus have equal strides, and
  /// a kernel may use one stride for all of them. The slowest axis may have any valid padding,
  /// because no stride depends on it.
  required,
  /// Any valid strides: for operations that ask each bound array for its strides.
  any_valid,
};

/// A slot for an array: the operation's input, output or scratch. Until an array is bound, links to
/// other dimensions can raise the requirements; so operations read the strides from the array when
/// they run.
class io_slot : public slot {
 public:
  /// With more than one dimension, the last one gets a hint for the type, unless it is frozen.
  /// @throws argument_error if there are more dimensions than a shape can have
  io_slot(std::string name, std::vector<dimension> dimensions, element_type type,
          padding_policy policy = padding_policy::required);

  /// The element type of the arrays that may be bound.
  element_type type() const noexcept { return type_; }
  /// The dimension of each axis, the slowest first.
  const std::vector<dimension>& dimensions() const noexcept { return dimensions_; }
  /// The paddings that bind accepts.
  padding_policy policy() const noexcept { return policy_; }

  /// The smallest layout that satisfies every dimension, as used by allocate.
  array_layout required_layout() const;

  /// Returns the bound array. @throws argument_error if the slot is unbound
  const device_array& buffer() const;

  /// Binds an array. On failure the previous binding stays.
  /// @throws type_error if its elements have another type, argument_error if its shape or padding
  ///         does not satisfy the dimensions, it belongs to another context than the operation, or
  ///         this is not a root slot; the text names the axis and its requirement
  void bind(const device_array& array);
  using slot::bind;
  /// Throws like bind(), without binding.
  void check(const device_array& array) const;

  /// Allocates an array that fits, and binds it. On failure the previous binding stays.
  /// @param memory  source of the memory, in the context of the operation
  /// @param bind    false: only allocates a spare array, for use in turn with the bound one
  /// @throws device_error if there is no memory, argument_error as bind
  device_array allocate(allocator& memory, bool bind = true);
  /// Allocates the array from a context.
  device_array allocate(const context& context, bool bind = true);
  /// Makes a host array that fits. @throws type_error if the slot has another element type
  template <element T>
  host_array<T> allocate_host() const {
    return host_array<T>(required_layout());
  }
  /// Makes a host array that fits, in pinned memory of a context, for non-blocking copies.
  /// @throws type_error if the slot has another element type, device_error if there is no memory
  template <element T>
  host_array<T> allocate_host(const context& context) const {
    return host_array<T>::pinned(context, required_layout());
  }

 protected:
  /// Binds an array to a part of a compound, which has already checked it.
  static void assign(io_slot& target, const device_array& array) { target.do_assign_array(array); }
  /// Binds a checked array, and freezes the dimensions. A compound passes it on to its parts.
  virtual void do_assign_array(const device_array& array);
  /// Unbinds the array. The dimensions stay frozen.
  void do_release() noexcept override;

 private:
  void check_padding(const array_layout& layout, const array_layout& required) const;

  std::size_t do_required_bytes() const override { return required_layout().bytes(); }
  void do_assign(const tune::buffer& memory) override;
  void do_collect(std::vector<dimension>& dimensions) const override;

  std::vector<dimension> dimensions_;
  element_type type_;
  padding_policy policy_;
  std::optional<device_array> array_;
};

/// An io_slot with an element type that is known at compile time: using arrays of another type does
/// not compile.
template <element T>
class typed_slot final : public io_slot {
 public:
  /// An io_slot for elements of T.
  /// @throws argument_error if there are more dimensions than a shape can have
  typed_slot(std::string name, std::vector<dimension> dimensions,
             padding_policy policy = padding_policy::required)
      : io_slot(std::move(name), std::move(dimensions), element_type::of<T>(), policy) {}

  /// Binds an array as io_slot does. An element type known only at run time is checked at run time.
  using io_slot::bind;
  template <class U>
  requires(!std::same_as<T, U>) void bind(const typed_array<U>& array) = delete;

  /// The bound array. @throws argument_error if the slot is unbound
  typed_array<T> array() const { return typed_array<T>(buffer()); }

  /// Allocates an array as io_slot does.
  typed_array<T> allocate(allocator& memory, bool bind = true) {
    return typed_array<T>(io_slot::allocate(memory, bind));
  }
  /// Allocates the array from a context.
  typed_array<T> allocate(const context& context, bool bind = true) {
    return typed_array<T>(io_slot::allocate(context, bind));
  }

  /// Makes a host array that fits.
  host_array<T> allocate_host() const { return io_slot::allocate_host<T>(); }
  /// Makes a host array that fits, in pinned memory. @throws device_error if there is no memory
  host_array<T> allocate_host(const context& context) const {
    return io_slot::allocate_host<T>(context);
  }

  /// Copies the elements of a host array to the bound array, as device_array does.
  void set(command_queue& queue, const host_array<T>& source) const { buffer().set(queue, source); }
  /// Copies the elements to a host array, and blocks until the copy has ended.
  /// @throws argument_error if the slot is unbound, or the host array has another shape
  void get(command_queue& queue, host_array<T>& destination) const {
    buffer().get(queue, destination);
  }
  /// Makes a host array with the elements and the layout of the bound array; blocks.
  /// @throws argument_error if the slot is unbound
  host_array<T> get(command_queue& queue) const { return buffer().template get<T>(queue); }
};

}  // namespace tune
