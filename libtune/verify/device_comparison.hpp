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
#include "libtune/verify/accuracy.hpp"
#include "libtune/verify/comparison.hpp"

namespace tune::detail {

/// An array as rows of equal pitch, counted in elements; the outer axes are merged into one.
struct row_layout {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t pitch = 1;

  /// Returns the rows of a layout; empty if padding between outer axes prevents it.
  static std::optional<row_layout> of(const array_layout& layout);
};

/// Compares two arrays of one layout on the device, so that only a few numbers are copied to the
/// host. It decides like compare(), up to the last rounding of a tolerance or of the sums. Used by
/// one thread at a time.
class array_comparer {
 public:
  /// Smaller arrays are compared as fast on the host.
  static constexpr std::size_t least_bytes = std::size_t{1} << 20;

  array_comparer(element_type type, const tolerance& allowed);
  ~array_comparer();
  array_comparer(array_comparer&&) noexcept;
  array_comparer& operator=(array_comparer&&) noexcept;

  /// True if there is a kernel for this layout: for structs only by their bits, and never with
  /// padding between outer axes.
  bool knows(const array_layout& layout) const;

  /// Counts the wrong elements, or wrong parts of them if bits are compared; all elements of a
  /// signal that is too noisy. Waits for the queue. The first comparison in a context compiles the
  /// kernel.
  /// @throws device_error, build_error if the device cannot run it, for example without doubles
  std::size_t count(command_queue& queue, const buffer& expected, const buffer& got,
                    const array_layout& layout);

 private:
  struct prepared;

  void prepare(command_queue& queue);

  element_type type_;
  tolerance allowed_;
  std::size_t words_;  // words in an element if bits are compared; 0: distances are compared
  std::unique_ptr<prepared> prepared_;  // for the context of the last arrays
};

/// Compares the bits of two runs: large arrays are copied and compared on the device if possible,
/// others on the host. Thread-safe.
class bit_comparison {
 public:
  /// The contents of an array at one time.
  struct snapshot {
    array_layout layout;
    std::optional<buffer> on_device{};
    std::vector<std::byte> on_host{};
  };

  /// Copies the contents of an array. Waits for the queue. @throws device_error
  snapshot keep(command_queue& queue, const device_array& array);

  /// True if an array of the same context has the layout and the bits of the snapshot, without the
  /// padding; false also if the device cannot compare them. Waits for the queue.
  /// @throws device_error
  bool is_same(command_queue& queue, const snapshot& before, const device_array& now);

  /// Returns a description as comparison::describe if the bits of an element have changed, without
  /// the padding; empty if they have not. Waits for the queue. @throws device_error
  std::optional<std::string> find_change(command_queue& queue, const snapshot& before,
                                         const device_array& now);

 private:
  std::optional<bool> differ_on_device(command_queue& queue, const snapshot& before,
                                       const device_array& now);

  std::mutex mutex_;
  std::map<std::size_t, array_comparer> comparers_;  // by the size of an element in bytes
};

/// Compares results with one answer on the device, so that only a few numbers are copied to the
/// host: an array_comparer with an answer, which the first comparison copies to the device, where
/// it stays during the life of this object. Thread-safe.
class device_comparison {
 public:
  /// @param elements  with this layout; shared
  device_comparison(const array_layout& layout, std::shared_ptr<const void> elements,
                    const tolerance& allowed);
  ~device_comparison();

  /// Counts the wrong elements of a result of the same type and shape like array_comparer. Waits
  /// for the queue. Empty if the host has to compare, because the array is small or does not
  /// consist of rows, or the device has no memory for the answer, or no doubles.
  std::optional<std::size_t> count_mismatches(command_queue& queue, const device_array& got);
  /// Measures a result of the same type and shape like measure_accuracy; empty as above.
  std::optional<accuracy> measure(command_queue& queue, const device_array& got);

 private:
  struct prepared;

  template <class Compare>
  auto on_device(command_queue& queue, const device_array& got, const Compare& compare)
      -> std::optional<decltype(compare())>;

  void prepare(command_queue& queue, const array_layout& layout);

  array_layout layout_;
  std::shared_ptr<const void> elements_;
  array_comparer comparer_;
  std::mutex mutex_;
  std::unique_ptr<prepared> prepared_;  // for the context and padding of the last result
  std::optional<context> given_up_;     // the context in which it failed
};

}  // namespace tune::detail
