// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "libtune/array/host_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/array/region.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"

namespace tune {

class allocator;

/// An array in device memory: the top left corner of a padded C-order array in a buffer. A handle:
/// copies refer to the same elements. The content of the padding is undefined, and copies of
/// elements do not touch the padding of their destination. The element type is known at run time;
/// the typed functions check it (typed_array does so at compile time). As thread-safe as the
/// queues.
///
/// Functions with regions follow numpy, but do not broadcast: both regions have the same shape. A
/// region without a step along the fastest axis is copied in the longest possible rows. With such a
/// step, every element is a row of its own, which copy engines handle slowly: for large copies,
/// copying the whole array or using a kernel may be many times as fast. Among the axes that cannot
/// be merged with their neighbours, those beyond three cost a command for each of their indices.
class device_array {
 public:
  /// Uninitialised elements in a buffer of its own. @throws device_error if there is no memory
  device_array(const tune::context& context, const array_layout& layout);
  /// Uninitialised elements in memory of an allocator. @throws device_error if it has none
  device_array(allocator& memory, const array_layout& layout);
  /// Wraps an existing buffer. @throws argument_error if it is too small
  device_array(tune::buffer buffer, const array_layout& layout);

  /// The element type, the shape, and the shape with padding.
  const array_layout& layout() const noexcept { return layout_; }
  /// The type of one element.
  element_type type() const noexcept { return layout_.type(); }
  /// The number of elements along each axis, without padding.
  const tune::shape& size() const noexcept { return layout_.size(); }
  /// The memory of the array, padding included; it has at least layout().bytes() bytes.
  const tune::buffer& buffer() const noexcept { return buffer_; }
  /// The context that the buffer belongs to.
  tune::context context() const;

  /// A pinned host array of the same layout, for non-blocking copies. Since the padding is equal on
  /// both sides, the whole array can also be copied in one run, padding included: by
  /// command_queue::write(array.buffer(), staging.data(), array.layout().bytes()), and read.
  /// @throws type_error if T is another type, device_error if there is no memory
  template <element T>
  host_array<T> staging_array() const {
    return host_array<T>::pinned(context(), layout_);
  }

  /// Returns a host array with the elements of the argument and the layout of this array, for
  /// non-blocking copies: the argument itself, moved, if it has this layout, else a pinned copy.
  ///   const auto staged = array.asarray_like(std::move(samples));
  ///   array.set_async(queue, staged);
  /// @throws type_error if the element types differ, argument_error if the shapes do, device_error
  ///         if there is no pinned memory
  template <element T>
  host_array<T> asarray_like(host_array<T> array) const {
    check_alike(array.layout());
    if (array.layout() == layout_) return array;
    host_array<T> copy = staging_array<T>();
    detail::copy_elements(array.layout(), array.data(), layout_, copy.data());
    return copy;
  }

  /// Enqueues zeroing of the whole array, including the padding.
  void zero(command_queue& queue) const;
  /// Enqueues zeroing of the elements of a region, and leaves the padding unchanged.
  /// @throws argument_error if the region does not fit the array (strided_layout)
  void zero_region(command_queue& queue, const region& selected) const;

  /// Enqueues setting every element to a value, including the padding.
  /// @throws type_error if the elements are not of type T, argument_error if an element exceeds the
  ///         256 bytes that command_queue::fill can repeat
  template <element T>
  void fill(command_queue& queue, const T& value) const {
    fill_bytes(queue, element_type::of<T>(), std::as_bytes(std::span(&value, 1)));
  }
  /// Enqueues setting the elements of a region to a value, and leaves the padding unchanged.
  /// @throws as fill; argument_error if the region does not fit the array
  template <element T>
  void fill_region(command_queue& queue, const region& selected, const T& value) const {
    fill_region_bytes(queue, selected, element_type::of<T>(), std::as_bytes(std::span(&value, 1)));
  }

  /// Copies all elements from the host; the padding of the two sides may differ. Blocks until the
  /// host array may be changed. @throws type_error if the element types differ, argument_error if
  /// the shapes do
  template <element T>
  void set(command_queue& queue, const host_array<T>& source) const {
    copy_from_host(queue, source.layout(), source.data(), true);
  }
  /// Copies all elements to the host; the padding of the two sides may differ. Blocks until the
  /// copy has ended. @throws as set
  template <element T>
  void get(command_queue& queue, host_array<T>& destination) const {
    copy_to_host(queue, destination.layout(), destination.data(), true);
  }
  /// Copies all elements to a new host array of the same layout, in ordinary memory. Blocks.
  /// @throws type_error if T is another type
  template <element T>
  host_array<T> get(command_queue& queue) const {
    host_array<T> destination(layout_);
    get(queue, destination);
    return destination;
  }

  /// Like set, without blocking: the host array has to live, unchanged, until the queue has passed
  /// the copy. It therefore cannot be a temporary. @throws as set
  template <element T>
  void set_async(command_queue& queue, const host_array<T>& source) const {
    copy_from_host(queue, source.layout(), source.data(), false);
  }
  template <element T>
  void set_async(command_queue& queue, const host_array<T>&& source) const = delete;
  /// Like get, without blocking: the host array has to live, unused, until the queue has passed the
  /// copy. @throws as set
  template <element T>
  void get_async(command_queue& queue, host_array<T>& destination) const {
    copy_to_host(queue, destination.layout(), destination.data(), false);
  }

  /// Copies a region of a host array, by default all of it, to a region of this array (own). Blocks
  /// until the host array may be changed. @throws type_error if the element types differ,
  /// argument_error if a region does not fit its array, or the two regions differ in shape
  template <element T>
  void set_region(command_queue& queue, const region& own, const host_array<T>& source,
                  const region& source_region = {}) const {
    copy_from_host(queue, own, {source.layout(), source_region}, source.data(), true);
  }
  /// Copies a region of this array (own) to a region of a host array, by default all of it. Blocks
  /// until the copy has ended. @throws as set_region
  template <element T>
  void get_region(command_queue& queue, const region& own, host_array<T>& destination,
                  const region& destination_region = {}) const {
    copy_to_host(queue, own, {destination.layout(), destination_region}, destination.data(), true);
  }
  /// Copies a region (own) to a new host array of its shape, without padding. Blocks.
  /// @throws type_error if T is another type, argument_error if the region does not fit the array
  template <element T>
  host_array<T> get_region(command_queue& queue, const region& own) const {
    host_array<T> destination(strided_layout(layout_, own).size());
    get_region(queue, own, destination);
    return destination;
  }

  /// Like set_region, without blocking; see set_async. @throws as set_region
  template <element T>
  void set_region_async(command_queue& queue, const region& own, const host_array<T>& source,
                        const region& source_region = {}) const {
    copy_from_host(queue, own, {source.layout(), source_region}, source.data(), false);
  }
  template <element T>
  void set_region_async(command_queue& queue, const region& own, const host_array<T>&& source,
                        const region& source_region = {}) const = delete;
  /// Like get_region, without blocking; see get_async. @throws as set_region
  template <element T>
  void get_region_async(command_queue& queue, const region& own, host_array<T>& destination,
                        const region& destination_region = {}) const {
    copy_to_host(queue, own, {destination.layout(), destination_region}, destination.data(), false);
  }

  /// Enqueues a copy of the elements from another array of the same shape and type, which shares
  /// no memory with this one. @throws type_error, argument_error as above
  void copy_from(command_queue& queue, const device_array& source) const;

  /// Enqueues a copy of a region of another array (by default all of it) to a region of this one
  /// (own). Both regions may be in the same array or buffer, but must not overlap in memory: that
  /// leaves undefined elements. @throws type_error, argument_error as above
  void copy_region(command_queue& queue, const region& own, const device_array& source,
                   const region& source_region = {}) const;

 private:
  void check_alike(const array_layout& host) const;
  void fill_bytes(command_queue& queue, element_type type, std::span<const std::byte> value) const;
  void fill_region_bytes(command_queue& queue, const region& selected, element_type type,
                         std::span<const std::byte> value) const;
  void copy_from_host(command_queue& queue, const array_layout& layout, const void* source,
                      bool blocking) const;
  void copy_from_host(command_queue& queue, const region& own, const strided_layout& from,
                      const void* source, bool blocking) const;
  void copy_to_host(command_queue& queue, const array_layout& layout, void* destination,
                    bool blocking) const;
  void copy_to_host(command_queue& queue, const region& own, const strided_layout& to,
                    void* destination, bool blocking) const;

  tune::buffer buffer_;
  array_layout layout_;
};

/// A device array with an element type that is known at compile time: using a host array of another
/// type does not compile. It can be used as a device_array, and its functions mean the same.
template <element T>
class typed_array : public device_array {
 public:
  /// The host type of one element.
  using value_type = T;

  /// Uninitialised elements in a buffer of its own. @throws device_error if there is no memory
  typed_array(const tune::context& context, const shape& size) : typed_array(context, size, size) {}
  /// Uninitialised elements in a buffer of its own, in the top left corner of a padded array.
  /// @throws device_error if there is no memory, argument_error if size does not fit in padded
  typed_array(const tune::context& context, const shape& size, const shape& padded)
      : device_array(context, {element_type::of<T>(), size, padded}) {}
  /// Uninitialised elements in memory of an allocator. @throws device_error if it has none
  typed_array(allocator& memory, const shape& size) : typed_array(memory, size, size) {}
  /// Uninitialised elements in memory of an allocator, in the top left corner of a padded array.
  /// @throws device_error if it has none, argument_error if size does not fit in padded
  typed_array(allocator& memory, const shape& size, const shape& padded)
      : device_array(memory, {element_type::of<T>(), size, padded}) {}
  /// Refers to the elements of an array whose type is known at run time only.
  /// @throws type_error if the type is not T
  explicit typed_array(device_array array) : device_array(std::move(array)) {
    detail::checked_layout(layout(), element_type::of<T>());
  }

  /// Returns a pinned host array of the same layout. @throws device_error if there is no memory
  host_array<T> staging_array() const { return device_array::staging_array<T>(); }
  /// Returns a host array of the same layout: the argument, or a pinned copy.
  /// @throws argument_error if the shapes differ, device_error if there is no pinned memory
  host_array<T> asarray_like(host_array<T> array) const {
    return device_array::asarray_like(std::move(array));
  }

  /// Enqueues setting every element to a value, including the padding.
  /// @throws argument_error if an element has more than 256 bytes
  void fill(command_queue& queue, const T& value) const { device_array::fill(queue, value); }
  /// Enqueues setting the elements of a region to a value.
  /// @throws as fill; argument_error if the region does not fit the array
  void fill_region(command_queue& queue, const region& selected, const T& value) const {
    device_array::fill_region(queue, selected, value);
  }

  /// Copies all elements from the host, and blocks until the host array may be changed.
  /// @throws argument_error if the shapes differ
  void set(command_queue& queue, const host_array<T>& source) const {
    device_array::set(queue, source);
  }
  /// Copies all elements to the host, and blocks until the copy has ended. @throws as set
  void get(command_queue& queue, host_array<T>& destination) const {
    device_array::get(queue, destination);
  }
  /// Copies all elements to a new host array of the same layout. Blocks.
  host_array<T> get(command_queue& queue) const { return device_array::get<T>(queue); }

  /// Like set, without blocking: the host array has to live, unchanged, until the queue has passed
  /// the copy. @throws as set
  void set_async(command_queue& queue, const host_array<T>& source) const {
    device_array::set_async(queue, source);
  }
  void set_async(command_queue& queue, const host_array<T>&& source) const = delete;
  /// Like get, without blocking: the host array has to live, unused, until the queue has passed the
  /// copy. @throws as set
  void get_async(command_queue& queue, host_array<T>& destination) const {
    device_array::get_async(queue, destination);
  }

  /// Copies a region of a host array, by default all of it, to a region of this array (own).
  /// Blocks. @throws argument_error if a region does not fit its array, or their shapes differ
  void set_region(command_queue& queue, const region& own, const host_array<T>& source,
                  const region& source_region = {}) const {
    device_array::set_region(queue, own, source, source_region);
  }
  /// Copies a region of this array (own) to a region of a host array, by default all of it.
  /// Blocks. @throws as set_region
  void get_region(command_queue& queue, const region& own, host_array<T>& destination,
                  const region& destination_region = {}) const {
    device_array::get_region(queue, own, destination, destination_region);
  }
  /// Copies a region (own) to a new host array of its shape, without padding. Blocks.
  /// @throws argument_error if the region does not fit the array
  host_array<T> get_region(command_queue& queue, const region& own) const {
    return device_array::get_region<T>(queue, own);
  }

  /// Like set_region, without blocking; see set_async. @throws as set_region
  void set_region_async(command_queue& queue, const region& own, const host_array<T>& source,
                        const region& source_region = {}) const {
    device_array::set_region_async(queue, own, source, source_region);
  }
  void set_region_async(command_queue& queue, const region& own, const host_array<T>&& source,
                        const region& source_region = {}) const = delete;
  /// Like get_region, without blocking; see get_async. @throws as set_region
  void get_region_async(command_queue& queue, const region& own, host_array<T>& destination,
                        const region& destination_region = {}) const {
    device_array::get_region_async(queue, own, destination, destination_region);
  }

  /// Enqueues a copy of all elements of another array, which shares no memory with this one.
  /// @throws argument_error if the shapes differ
  void copy_from(command_queue& queue, const typed_array& source) const {
    device_array::copy_from(queue, source);
  }
  /// Enqueues a copy of a region of another array, by default all of it, to a region of this one
  /// (own). The regions must not overlap in memory. @throws as set_region
  void copy_region(command_queue& queue, const region& own, const typed_array& source,
                   const region& source_region = {}) const {
    device_array::copy_region(queue, own, source, source_region);
  }
};

}  // namespace tune
