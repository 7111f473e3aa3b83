// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations::transforms {

/// A work area that is divided into parts. The parts are recreated only for another area, so a run
/// normally allocates nothing.
class work_parts {
 public:
  explicit work_parts(const device& device) : alignment_(device.limits().buffer_alignment_bytes) {}

  /// Adds a part with this many bytes, possibly 0. Returns its number.
  std::size_t add(std::size_t bytes) {
    parts_.push_back({bytes_, bytes});
    bytes_ = round_up(bytes_ + bytes, alignment_);
    return parts_.size() - 1;
  }
  /// The bytes of all parts; 0 without parts.
  std::size_t bytes() const noexcept { return bytes_; }

  /// Divides the area.
  void set(command_queue& queue, const buffer& area) {
    if (area_ && area_->impl() == area.impl()) return;
    const context context = queue.context();
    for (part& each : parts_) {
      if (each.bytes > 0) each.memory = context.create_sub_buffer(area, each.begin, each.bytes);
    }
    area_ = area;
  }
  /// A part of the present area; null if it has no bytes.
  const buffer* operator[](std::size_t number) const {
    const std::optional<buffer>& memory = parts_[number].memory;
    return memory ? &*memory : nullptr;
  }

 private:
  struct part {
    std::size_t begin;
    std::size_t bytes;
    std::optional<buffer> memory{};
  };

  std::size_t alignment_;
  std::size_t bytes_ = 0;
  std::vector<part> parts_;
  std::optional<buffer> area_{};
};

}  // namespace tune::operations::transforms
