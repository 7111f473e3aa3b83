// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/base/dtype.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/verify/comparison.hpp"

namespace tune::detail {

/// An array as rows of one pitch, counted in elements; the outer axes are merged into one.
struct row_layout {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t pitch = 1;

  /// Empty if padding between outer axes stands in the way.
  static std::optional<row_layout> of(const array_layout& layout);
};

/// Compares two arrays of one layout where they lie, so that only a few numbers travel to the host.
/// It decides as compare does, up to the last rounding of a tolerance or of the sums. Used by one
/// thread at a time.
class array_comparer {
 public:
  /// Below it the host is as fast.
  static constexpr std::size_t least_bytes = std::size_t{1} << 20;

  array_comparer(element_type type, const tolerance& allowed);
  ~array_comparer();
  array_comparer(array_comparer&&) noexcept;
  array_comparer& operator=(array_comparer&&) noexcept;

  /// True if there is a kernel for this at all: not for structs by anything but their bits, and not
  /// for padding between outer axes.
  bool knows(const array_layout& layout) const;

  /// Counts the elements that are wrong, or parts of them where bits decide; of a signal that is
  /// too noisy all. Waits for the queue. The kernel is compiled by the first comparison in a
  /// context.
  /// @throws device_error, build_error where the device cannot: without doubles, say
  std::size_t count(command_queue& queue, const buffer& expected, const buffer& got,
                    const array_layout& layout);

 private:
  struct prepared;

  void prepare(command_queue& queue);

  element_type type_;
  tolerance allowed_;
  std::size_t words_;  // of which an element is made, where bits decide; 0: its distance decides
  std::unique_ptr<prepared> prepared_;  // for the context of the last arrays
};

/// Finds out whether two runs gave the same bits: large arrays are copied and compared on the
/// device, where it can, and others on the host. Thread-safe.
class bit_comparison {
 public:
  /// The contents of an array at a time.
  struct snapshot {
    array_layout layout;
    std::optional<buffer> on_device{};
    std::vector<std::byte> on_host{};
  };

  /// Waits for the queue. @throws device_error
  snapshot keep(command_queue& queue, const device_array& array);

  /// True if an element, padding aside, has other bits now: which, as comparison::describe tells.
  /// Waits for the queue. @throws device_error
  std::optional<std::string> find_change(command_queue& queue, const snapshot& before,
                                         const device_array& now);

 private:
  std::optional<bool> differ_on_device(command_queue& queue, const snapshot& before,
                                       const device_array& now);

  std::mutex mutex_;
  std::map<std::size_t, array_comparer> comparers_;  // by the bytes of an element
};

/// Compares results with one answer on the device, so that only a few numbers and not the arrays
/// travel to the host: array_comparer with an answer, which is copied to the device by the first
/// comparison and stays there as long as this lives. Thread-safe.
class device_comparison {
 public:
  /// @param elements  of the layout; shared
  device_comparison(const array_layout& layout, std::shared_ptr<const void> elements,
                    const tolerance& allowed);
  ~device_comparison();

  /// Counts the wrong elements of a result of the same type and shape, as array_comparer counts
  /// them. Waits for the queue. Empty where the host has to find out: the array is small, or not
  /// one of rows; or the device has no memory for the answer, or no doubles.
  std::optional<std::size_t> count_mismatches(command_queue& queue, const device_array& got);

 private:
  struct prepared;

  void prepare(command_queue& queue, const array_layout& layout);

  array_layout layout_;
  std::shared_ptr<const void> elements_;
  array_comparer comparer_;
  std::mutex mutex_;
  std::unique_ptr<prepared> prepared_;  // for the context and padding of the last result
  std::optional<context> given_up_;     // where it did not work
};

}  // namespace tune::detail
