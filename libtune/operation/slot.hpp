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

/// A place in an operation for memory: an io_slot takes an array, a compound_slot one array for
/// several slots, an alias_slot one piece of memory in which several slots have an array each. The
/// last two own what they are made of, so slots form trees; only the root of a tree may be bound,
/// allocated or unbound, and it takes the whole tree along. A slot whose owner is destroyed is a
/// root again, with what is bound to it. Not thread-safe.
class slot {
 public:
  virtual ~slot();
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;

  /// The name given at construction, without the "child:" that a sequence puts before it.
  const std::string& name() const noexcept { return name_; }

  /// The compound or alias that this slot is part of; null for a root.
  const slot* owner() const noexcept { return owner_; }
  /// The slot at the top of the tree: this one if it has no owner.
  slot& root() noexcept;
  /// The slots that a compound or alias is made of.
  std::span<const std::shared_ptr<slot>> children() const noexcept { return children_; }

  /// True if something is bound to this slot, or by its root to the whole tree.
  bool is_bound() const noexcept { return bound_; }
  /// A number that changes with what is bound; see operation::version.
  std::uint64_t version() const noexcept { return version_; }

  /// The least number of bytes of memory that can be bound.
  std::size_t required_bytes() const { return do_required_bytes(); }

  /// Binds memory, which is then laid out as the slot requires. On failure what was bound stays
  /// bound. @throws argument_error if it is too small, belongs to another context than the
  /// operation, or this is not a root slot
  void bind(const buffer& memory);
  /// Makes memory that fits, and binds it. On failure what was bound stays bound.
  /// @param memory  gives the memory, of the context of the operation
  /// @param bind    true to bind it: without, it is spare memory to bind later
  /// @throws device_error if there is no memory, argument_error as for bind
  buffer allocate_buffer(allocator& memory, bool bind = true);
  /// The same in a new buffer of a context.
  buffer allocate_buffer(const context& context, bool bind = true);
  /// @throws argument_error if this is not a root slot
  void unbind();

  /// Refuses memory of other contexts from now on. An operation does it to the slots it adds.
  void restrict_to(const context& context) { context_ = context; }

  /// All dimensions in the tree below this slot.
  std::vector<dimension> all_dimensions() const;

 protected:
  /// A root to which nothing is bound.
  explicit slot(std::string name);

  /// Takes children over, which then have this owner. Call it last in a constructor.
  void adopt(std::vector<std::shared_ptr<slot>> children) noexcept;
  /// @throws argument_error unless each child exists, is an unbound root of one context and comes
  /// once
  static void check_children(const std::string& owner,
                             std::span<const std::shared_ptr<slot>> children);

  /// @throws argument_error that names the root, if this is not one
  void check_root() const;
  /// @throws argument_error if it is not the context that restrict_to named
  void check_context(const detail::context_interface& context) const;
  /// Sets is_bound() and gives the slot a new version().
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

/// Which padding a slot takes, of all that is valid for its dimensions.
enum class padding_policy : std::uint8_t {
  /// The strides of required_layout. So slots that share dimensions have equal strides, and a
  /// kernel may take one stride for all of them. The slowest axis may still have any valid padding,
  /// since no stride depends on it.
  required,
  /// Any strides: for an operation that asks each bound array for its own.
  any_valid,
};

/// A place in an operation where an array is bound: the operation's input, output or scratch. What
/// it requires can grow until an array is bound, by links to other dimensions; so an operation
/// reads the strides from the array, when it runs.
class io_slot : public slot {
 public:
  /// If there is more than one dimension, the last takes the hint of the type, unless it is frozen.
  /// @throws argument_error if there are more dimensions than a shape can have
  io_slot(std::string name, std::vector<dimension> dimensions, element_type type,
          padding_policy policy = padding_policy::required);

  /// The type of the elements of the arrays that may be bound.
  element_type type() const noexcept { return type_; }
  /// One for each axis, the slowest first.
  const std::vector<dimension>& dimensions() const noexcept { return dimensions_; }
  /// Which padding bind accepts, of all that the dimensions allow.
  padding_policy policy() const noexcept { return policy_; }

  /// The least layout that satisfies every dimension: what allocate uses.
  array_layout required_layout() const;

  /// @throws argument_error if nothing is bound
  const device_array& buffer() const;

  /// Binds an array. On failure what was bound stays bound.
  /// @throws type_error if its elements have another type, argument_error if its shape or padding
  ///         does not satisfy the dimensions, it belongs to another context than the operation, or
  ///         this is not a root slot; the text says which axis and what it needs
  void bind(const device_array& array);
  using slot::bind;
  /// Throws what bind would throw, and changes nothing.
  void check(const device_array& array) const;

  /// Makes an array that fits, and binds it. On failure what was bound stays bound.
  /// @param memory  gives the memory, of the context of the operation
  /// @param bind    true to bind it: without, it is a spare array, to take turns with
  /// @throws device_error if there is no memory, argument_error as for bind
  device_array allocate(allocator& memory, bool bind = true);
  /// The same in a new buffer of a context.
  device_array allocate(const context& context, bool bind = true);
  /// A host array that fits. @throws type_error if the slot holds other elements
  template <element T>
  host_array<T> allocate_host() const {
    return host_array<T>(required_layout());
  }
  /// The same in pinned memory of a context, for copies that do not block.
  /// @throws type_error as above, device_error if there is no memory
  template <element T>
  host_array<T> allocate_host(const context& context) const {
    return host_array<T>::pinned(context, required_layout());
  }

 protected:
  /// Binds an array to a part of a compound, which has checked it.
  static void assign(io_slot& target, const device_array& array) { target.do_assign_array(array); }
  /// Binds an array that has been checked, and freezes the dimensions. A compound passes it on.
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

/// An io_slot whose element type is known when the program is compiled: what does not fit it does
/// not compile.
template <element T>
class typed_slot final : public io_slot {
 public:
  /// An io_slot for elements of T.
  /// @throws argument_error if there are more dimensions than a shape can have
  typed_slot(std::string name, std::vector<dimension> dimensions,
             padding_policy policy = padding_policy::required)
      : io_slot(std::move(name), std::move(dimensions), element_type::of<T>(), policy) {}

  /// As io_slot does. Arrays whose type is known at run time only are checked at run time.
  using io_slot::bind;
  template <class U>
  requires(!std::same_as<T, U>) void bind(const typed_array<U>& array) = delete;

  /// The array that is bound. @throws argument_error if nothing is
  typed_array<T> array() const { return typed_array<T>(buffer()); }

  /// As io_slot does.
  typed_array<T> allocate(allocator& memory, bool bind = true) {
    return typed_array<T>(io_slot::allocate(memory, bind));
  }
  /// The same in a new buffer of a context.
  typed_array<T> allocate(const context& context, bool bind = true) {
    return typed_array<T>(io_slot::allocate(context, bind));
  }

  /// A host array that fits.
  host_array<T> allocate_host() const { return io_slot::allocate_host<T>(); }
  /// The same in pinned memory of a context. @throws device_error if there is no memory
  host_array<T> allocate_host(const context& context) const {
    return io_slot::allocate_host<T>(context);
  }

  /// Copies the elements between the array that is bound and the host, as device_array does.
  void set(command_queue& queue, const host_array<T>& source) const { buffer().set(queue, source); }
  /// Copies the elements to a host array, and blocks until they are there.
  /// @throws argument_error if nothing is bound, or the host array has another shape
  void get(command_queue& queue, host_array<T>& destination) const {
    buffer().get(queue, destination);
  }
  /// A new host array with the elements and the layout of the bound array; blocks.
  /// @throws argument_error if nothing is bound
  host_array<T> get(command_queue& queue) const { return buffer().template get<T>(queue); }
};

}  // namespace tune
