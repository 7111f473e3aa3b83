// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "libtune/testing/fake_launch.hpp"

namespace tune::testing {

/// What may be set as one argument of a fake kernel.
class fake_parameter {
 public:
  /// Anything.
  fake_parameter() = default;
  /// A buffer, and no scalar.
  static fake_parameter buffer() { return fake_parameter(true, std::nullopt); }
  /// A scalar of sizeof(T) bytes, and no buffer.
  template <class T>
  static fake_parameter scalar() {
    return fake_parameter(false, sizeof(T));
  }

  /// Whether it may be set to a buffer.
  bool takes_buffer() const noexcept { return takes_buffer_; }
  /// Of the scalar that it takes, and no other; empty if it takes none, or any.
  std::optional<std::size_t> scalar_bytes() const noexcept { return size_; }
  /// Whether it may be set to a scalar of so many bytes.
  bool takes_scalar(std::size_t bytes) const noexcept {
    return any_ || (size_.has_value() && *size_ == bytes);
  }

 private:
  fake_parameter(bool takes_buffer, std::optional<std::size_t> size) noexcept
      : any_(false), takes_buffer_(takes_buffer), size_(size) {}

  bool any_ = true;
  bool takes_buffer_ = true;
  std::optional<std::size_t> size_;
};

/// A kernel that is a function of the host.
struct fake_kernel {
  std::vector<fake_parameter> parameters = {};  ///< in order, one for each argument
  /// Does the work of all work items. It is not called for a launch that fails; what it throws
  /// leaves the launch.
  std::function<void(fake_launch&)> run = {};
  /// The local memory that a work group takes; empty means none.
  std::function<std::size_t(const fake_macros&)> local_memory_bytes = {};
  /// The largest work group, where it is less than the device's; zero means the device's.
  std::size_t max_work_group_size = 0;
  /// The only work group that it may be launched with; empty means any.
  std::function<work_size(const fake_macros&)> required_work_group_size = {};
};

}  // namespace tune::testing
