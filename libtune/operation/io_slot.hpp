// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/base/element_type.hpp"
#include "libtune/operation/dimension.hpp"
#include "libtune/operation/slot.hpp"

namespace tune {

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
  /// @param bind    whether to bind it: without, it is a spare array, to take turns with
  /// @throws device_error if there is no memory, argument_error as for bind
  device_array allocate(allocator& memory, bool bind = true);
  /// The same in a new buffer of a context.
  device_array allocate(const context& context, bool bind = true);
  /// A host array that fits. @throws type_error if the slot holds other elements
  template <element T>
  host_array<T> allocate_host() const {
    return host_array<T>(required_layout());
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

}  // namespace tune
