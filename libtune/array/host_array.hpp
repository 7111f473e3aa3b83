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

/// Uninitialised memory of the host: ordinary, or pinned memory of a context. Owns it; a value:
/// copies are deep and of the same kind; one that was moved from may be assigned and destroyed.
/// Memory of somebody else can be wrapped; copies of that are ordinary.
class host_memory {
 public:
  /// Of ordinary memory: what the vectors of processors like best.
  static constexpr std::size_t alignment = 64;

  /// @throws std::bad_alloc
  explicit host_memory(std::size_t bytes);
  /// Pinned. @throws device_error (out_of_memory)
  host_memory(const context& context, std::size_t bytes);
  /// Wraps memory that lives longer.
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
  // For copies, if it is pinned; not an optional context, which g++ 13 takes for uninitialised.
  std::shared_ptr<context_interface> context_;
  std::shared_ptr<void> data_;
  std::size_t bytes_;
};

/// Copies the elements of an array, which both layouts describe, and no padding. The layouts have
/// one shape and one element type, and the memory does not overlap.
void copy_elements(const array_layout& from, const void* source, const array_layout& to,
                   void* destination) noexcept;

/// Checks that memory is large enough to be wrapped. @throws argument_error
void check_wrapped(const array_layout& layout, std::size_t elements);
/// Checks that there are as many elements as an array of this shape has. @throws argument_error
void check_copied(const shape& size, std::size_t elements);

/// A range whose elements lie in a row and may be those of an array; arrays of fixed size are
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

/// A typed array in host memory, with the same padding rules as on the device. Owns its elements;
/// a value: copies are deep; one that was moved from may be assigned and destroyed, no more.
/// Elements start as T() does: as zero, if they are numbers. An array that wraps memory of the
/// application is the exception: it owns no elements, and starts with those that are there.
template <element T>
class host_array {
  static_assert(alignof(T) <= detail::host_memory::alignment);

 public:
  /// An array without padding, in ordinary memory.
  /// @throws argument_error if it is larger than any memory, std::bad_alloc if there is not enough
  explicit host_array(const shape& size) : host_array(size, size) {}
  /// An array in the top left corner of a padded one, in ordinary memory.
  /// @throws as above; argument_error if the shape does not fit in the padded one
  host_array(const shape& size, const shape& padded)
      : host_array(array_layout(element_type::of<T>(), size, padded)) {}
  /// An array of this layout, in ordinary memory.
  /// @throws type_error if the layout is that of other elements, std::bad_alloc
  explicit host_array(const array_layout& layout)
      : host_array(detail::checked_layout(layout, element_type::of<T>()),
                   detail::host_memory(layout.bytes())) {}

  /// In pinned memory of a context, and so are its copies: for copies that do not block, and run at
  /// full speed. The system can spare little of it, and making it takes far longer than making
  /// ordinary memory: keep it and use it again.
  /// @throws type_error as above, device_error (out_of_memory) if there is no memory
  static host_array pinned(const context& context, const array_layout& layout) {
    return host_array(detail::checked_layout(layout, element_type::of<T>()),
                      detail::host_memory(context, layout.bytes()));
  }
  /// An array without padding over memory of the application, which lives longer than the array,
  /// and than copies that do not block. Copies of it own their elements, in ordinary memory;
  /// assigning to it lets the memory go, and does not write to it.
  ///   array.set(queue, tune::host_array<float>::wrap(samples, {channels, times}));
  /// @throws argument_error if the memory has fewer elements than the array
  static host_array wrap(std::span<T> memory, const shape& size) {
    return wrap(memory, size, size);
  }
  /// The same, in the top left corner of a padded array.
  /// @throws as above, also if the shape does not fit in the padded one
  static host_array wrap(std::span<T> memory, const shape& size, const shape& padded) {
    const array_layout layout(element_type::of<T>(), size, padded);
    detail::check_wrapped(layout, memory.size());
    return host_array(layout, memory.data());
  }
  /// As wrap, over memory that is only read: keep the result in a constant. An array that is
  /// initialised with the call itself, host_array<float>(wrap_const(...)), is no copy: it wraps the
  /// memory, too; see copy_of.
  ///   const auto taps = tune::host_array<float>::wrap_const(numbers, {numbers.size()});
  // NOLINTBEGIN(readability-const-return-type): without const one could write to the memory
  static const host_array wrap_const(std::span<const T> memory, const shape& size) {
    return wrap_const(memory, size, size);
  }
  /// The same, in the top left corner of a padded array.
  static const host_array wrap_const(std::span<const T> memory, const shape& size,
                                     const shape& padded) {
    return wrap({const_cast<T*>(memory.data()), memory.size()}, size, padded);  // NOLINT: as above
  }
  // NOLINTEND(readability-const-return-type)
  /// An array without padding, in ordinary memory, with a copy of elements in C order: those of a
  /// vector, say.
  /// @throws argument_error unless there are as many elements as the shape has
  static host_array copy_of(std::span<const T> elements, const shape& size) {
    detail::check_copied(size, elements.size());
    host_array made(size);
    std::copy(elements.begin(), elements.end(), made.data());
    return made;
  }

  /// False if the elements lie in memory of the application.
  bool is_owner() const noexcept { return memory_.is_owner(); }

  /// True if the elements lie in pinned memory of a context, as those of pinned() do.
  bool is_pinned() const noexcept { return memory_.is_pinned(); }

  /// The element type, the shape, and the shape with padding.
  const array_layout& layout() const noexcept { return layout_; }
  /// The number of elements along each axis, without padding.
  const tune::shape& size() const noexcept { return layout_.size(); }

  /// The element at these indices, one for each axis. Their values are not checked.
  template <std::convertible_to<std::size_t>... Index>
  T& operator()(Index... index) noexcept {
    return data()[layout_.place(index...)];
  }
  /// The same for reading.
  template <std::convertible_to<std::size_t>... Index>
  const T& operator()(Index... index) const noexcept {
    return data()[layout_.place(index...)];
  }

  /// The first of the padded_elements() elements, which follow each other in C order.
  T* data() noexcept { return static_cast<T*>(memory_.data()); }
  /// The same for reading.
  const T* data() const noexcept { return static_cast<const T*>(memory_.data()); }
  /// The number of elements, the padding included.
  std::size_t padded_elements() const noexcept { return layout_.padded().elements(); }

  /// Sets every element, the padding included.
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

/// The array; where that wraps memory of the application, which may not live as long, a copy.
template <element T>
host_array<T> owned(host_array<T> given) {
  if (given.is_owner()) return given;
  return host_array<T>(std::as_const(given));
}

}  // namespace tune::detail
