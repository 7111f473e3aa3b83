// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "libtune/array/layout.hpp"
#include "libtune/base/element_type.hpp"
#include "libtune/device/mapped_memory.hpp"

namespace tune {

/// The elements of a managed array while the host may touch them: from managed_array::map to the
/// end of this object, or unmap. It can be moved but not copied. Not thread-safe.
template <element T>
class [[nodiscard]] mapped_array {
 public:
  /// Use managed_array::map.
  mapped_array(mapped_memory memory, const array_layout& layout) noexcept
      : memory_(std::move(memory)), layout_(layout) {}

  const array_layout& layout() const noexcept { return layout_; }
  const tune::shape& size() const noexcept { return layout_.size(); }

  /// The element at these indices, one for each axis. Their values are not checked.
  template <std::convertible_to<std::size_t>... Index>
  T& operator()(Index... index) const noexcept {
    return data()[layout_.place(index...)];
  }

  /// The whole padded array; null once it has been unmapped.
  T* data() const noexcept { return static_cast<T*>(memory_.data()); }
  std::size_t padded_elements() const noexcept { return layout_.padded().elements(); }

  /// Ends the mapping before this object does. What is enqueued from now on sees what the host
  /// wrote. @throws device_error
  void unmap() { memory_.unmap(); }

 private:
  mapped_memory memory_;
  array_layout layout_;
};

}  // namespace tune
