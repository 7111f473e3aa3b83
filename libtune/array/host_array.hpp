// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "libtune/array/layout.hpp"
#include "libtune/base/dtype.hpp"
#include "libtune/device/context.hpp"

namespace tune::detail {

/// Uninitialised host memory: ordinary, or pinned memory of a context. Owns it; a value: copies are
/// deep and of the same kind; a moved-from object may be assigned and destroyed. It can also wrap
/// memory that it does not own; copies of that are ordinary.
class host_memory {
 public:
  /// The alignment of ordinary memory, which suits the vector instructions of processors.
  static constexpr std::size_t alignment = 64;

  /// @throws std::bad_alloc
  explicit host_memory(std::size_t bytes);
  /// Allocates pinned memory. @throws device_error (out_of_memory)
  host_memory(const context& context, std::size_t bytes);
  /// Wraps memory that outlives this object.
  host_memory(void* wrapped, std::size_t bytes) noexcept;
  host_memory(const host_memory& other);
  host_memory(host_memory&&) noexcept = default;
  host_memory& operator=(const host_memory& other);
  host_memory& operator=(host_memory&&) noexcept = default;
  ~host_memory() = default;

  void* data() const noexcept { return data_.get(); }
  bool is_pinned() const noexcept { return context_ != nullptr; }
  bool is_owner() const noexcept { return data_.use_count() != 0; }

 private:
  // For copies of pinned memory. Not std::optional<context>, which g++ 13 takes for uninitialised.
  std::shared_ptr<context_interface> context_;
  std::shared_ptr<void> data_;
  std::size_t bytes_;
};

/// Copies the elements of an array, without padding, from one layout to another. The layouts have
/// the same shape and element type, and the memory does not overlap.
void copy_elements(const array_layout& from, const void* source, const array_layout& to,
                   void* destination) noexcept;

/// Checks that a layout fits in this many elements. @throws argument_error
void check_wrapped(const array_layout& layout, std::size_t elements);
/// Checks that an array of this shape has this many elements. @throws argument_error
void check_copied(const shape& size, std::size_t elements);

/// Matches contiguous ranges whose elements can be elements of an array; arrays of fixed size are
/// values.
template <class Range>
concept host_range = requires(const Range& range) {
  { std::size(range) } -> std::convertible_to<std::size_t>;
  requires element<std::remove_cvref_t<decltype(*std::data(range))>>;
};

template <host_range Range>
using element_of = std::remove_cvref_t<decltype(*std::data(std::declval<const Range&>()))>;

}  // namespace tune::detail

namespace tune {

/// A typed array in host memory, with the same padding rules as on the device. Owns its elements; a
/// value: copies are deep; a moved-from array may only be assigned and destroyed. Elements are
/// initialised as T(): numbers are zero. An exception is an array that wraps memory of the
/// application: it does not own its elements, and does not initialise them.
template <element T>
class host_array {
  static_assert(alignof(T) <= detail::host_memory::alignment);

 public:
  /// An array without padding, in ordinary memory.
  /// @throws argument_error if it exceeds any memory, std::bad_alloc if there is not enough
  explicit host_array(const shape& size) : host_array(size, size) {}
  /// An array in the top left corner of a padded one, in ordinary memory.
  /// @throws as above; argument_error if the shape does not fit in the padded one
  host_array(const shape& size, const shape& padded)
      : host_array(array_layout(element_type::of<T>(), size, padded)) {}
  /// An array of this layout, in ordinary memory.
  /// @throws type_error if the layout has another element type, std::bad_alloc
  explicit host_array(const array_layout& layout)
      : host_array(detail::checked_layout(layout, element_type::of<T>()),
                   detail::host_memory(layout.bytes())) {}

  /// An array in pinned memory of a context, for non-blocking copies at full speed. Its copies are
  /// pinned, too. The system can spare only little pinned memory, and allocating it takes far
  /// longer than ordinary memory: keep the array and reuse it.
  /// @throws type_error if the layout has another element type, device_error (out_of_memory)
  static host_array pinned(const context& context, const array_layout& layout) {
    return host_array(detail::checked_layout(layout, element_type::of<T>()),
                      detail::host_memory(context, layout.bytes()));
  }
  /// An array without padding that wraps memory of the application. The memory has to outlive the
  /// array and its non-blocking copies. Copies of the array own their elements, in ordinary memory;
  /// assigning to the array ends the wrapping, and does not write to the memory.
  ///   array.set(queue, tune::host_array<float>::wrap(samples, {channels, times}));
  /// @throws argument_error if the memory has fewer elements than the array
  static host_array wrap(std::span<T> memory, const shape& size) {
    return wrap(memory, size, size);
  }
  /// Wraps memory as an array in the top left corner of a padded array.
  /// @throws argument_error also if the shape does not fit in the padded one
  static host_array wrap(std::span<T> memory, const shape& size, const shape& padded) {
    const array_layout layout(element_type::of<T>(), size, padded);
    detail::check_wrapped(layout, memory.size());
    return host_array(layout, memory.data());
  }
  /// Like wrap, for memory that is only read: keep the result in a constant. An array that is
  /// initialised with the call itself, host_array<float>(wrap_const(...)), also wraps the memory
  /// instead of copying it; see copy_of.
  ///   const auto taps = tune::host_array<float>::wrap_const(numbers, {numbers.size()});
  // NOLINTBEGIN(readability-const-return-type): without const one could write to the memory
  static const host_array wrap_const(std::span<const T> memory, const shape& size) {
    return wrap_const(memory, size, size);
  }
  /// Wraps read-only memory as an array in the top left corner of a padded array.
  static const host_array wrap_const(std::span<const T> memory, const shape& size,
                                     const shape& padded) {
    return wrap({const_cast<T*>(memory.data()), memory.size()}, size, padded);  // NOLINT: as above
  }
  // NOLINTEND(readability-const-return-type)
  /// An array without padding, in ordinary memory, with a copy of elements in C order, such as the
  /// elements of a vector.
  /// @throws argument_error unless the number of elements is that of the shape
  static host_array copy_of(std::span<const T> elements, const shape& size) {
    detail::check_copied(size, elements.size());
    host_array made(size);
    std::copy(elements.begin(), elements.end(), made.data());
    return made;
  }

  /// False if the elements lie in memory of the application.
  bool is_owner() const noexcept { return memory_.is_owner(); }

  /// True if the elements lie in pinned memory of a context, as in the result of pinned().
  bool is_pinned() const noexcept { return memory_.is_pinned(); }

  /// The element type, the shape, and the padded shape.
  const array_layout& layout() const noexcept { return layout_; }
  /// The number of elements along each axis, without padding.
  const tune::shape& size() const noexcept { return layout_.size(); }

  /// The element at these indices, one for each axis. The indices are not checked.
  template <std::convertible_to<std::size_t>... Index>
  T& operator()(Index... index) noexcept {
    return data()[layout_.place(index...)];
  }
  /// The same for reading.
  template <std::convertible_to<std::size_t>... Index>
  const T& operator()(Index... index) const noexcept {
    return data()[layout_.place(index...)];
  }

  /// The first of the padded_elements() elements, in C order.
  T* data() noexcept { return static_cast<T*>(memory_.data()); }
  /// The same for constant arrays.
  const T* data() const noexcept { return static_cast<const T*>(memory_.data()); }
  /// The number of elements, including the padding.
  std::size_t padded_elements() const noexcept { return layout_.padded().elements(); }

  /// Sets every element, including the padding.
  void fill(const T& value) {
    T* const first = data();
    const std::size_t count = padded_elements();
    for (std::size_t i = 0; i < count; ++i) first[i] = value;
  }

 private:
  host_array(const array_layout& layout, detail::host_memory memory)
      : layout_(layout), memory_(std::move(memory)) {
    std::uninitialized_value_construct_n(data(), padded_elements());
  }
  host_array(const array_layout& layout, T* wrapped)
      : layout_(layout), memory_(wrapped, layout.bytes()) {}

  array_layout layout_;
  detail::host_memory memory_;
};

}  // namespace tune

namespace tune::detail {

/// Returns the array, or a copy if the array wraps memory of the application.
template <element T>
host_array<T> owned(host_array<T> given) {
  if (given.is_owner()) return given;
  return host_array<T>(std::as_const(given));
}

}  // namespace tune::detail
