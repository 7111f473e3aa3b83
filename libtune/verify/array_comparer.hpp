// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

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

}  // namespace tune::detail
