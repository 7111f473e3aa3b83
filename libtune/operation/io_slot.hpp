// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/base/element_type.hpp"
#include "libtune/operation/dimension.hpp"
#include "libtune/operation/version.hpp"

namespace tune {

/// A place in an operation where an array is bound: the operation's input, output or scratch.
/// Not thread-safe.
class io_slot {
 public:
  /// @throws argument_error if there are more dimensions than a shape can have
  io_slot(std::string name, std::initializer_list<dimension> dimensions, element_type type);

  const std::string& name() const noexcept { return name_; }
  element_type type() const noexcept { return type_; }
  const std::vector<dimension>& dimensions() const noexcept { return dimensions_; }

  /// The least layout that satisfies every dimension: what allocate uses.
  array_layout required_layout() const;
  std::size_t required_bytes() const { return required_layout().bytes(); }

  bool is_bound() const noexcept { return bound_.has_value(); }
  /// @throws argument_error if nothing is bound
  const device_array& buffer() const;

  /// Binds an array. On failure what was bound stays bound.
  /// @throws type_error if its elements have another type, argument_error if its shape or padding
  ///         does not satisfy the dimensions; the text says which axis and what it needs
  void bind(const device_array& array);
  void unbind() noexcept;

  /// A number that changes with what is bound; see operation::version.
  std::uint64_t version() const noexcept { return version_; }

  /// Makes an array that fits and binds it. On failure what was bound stays bound.
  /// @throws device_error if there is no memory
  const device_array& allocate(const context& context);

 private:
  void validate(const array_layout& layout) const;
  void assign(const device_array& array) noexcept;

  std::string name_;
  std::vector<dimension> dimensions_;
  element_type type_;
  std::optional<device_array> bound_;
  std::uint64_t version_ = next_version();
};

}  // namespace tune
