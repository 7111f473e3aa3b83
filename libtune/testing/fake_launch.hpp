// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libtune/device/nd_range.hpp"
#include "libtune/testing/fake_macros.hpp"

namespace tune::testing {

/// Device memory that a fake kernel may read and write.
class fake_memory {
 public:
  /// Its bytes, which may be changed; they lie on the host.
  virtual std::span<std::byte> contents() noexcept = 0;

 protected:
  ~fake_memory() = default;
};

/// An argument as it was set: the bytes of a scalar, or a buffer; neither if it was not.
struct fake_argument {
  std::vector<std::byte> bytes = {};    ///< of a scalar; empty otherwise
  std::shared_ptr<fake_memory> memory;  ///< of a buffer; null otherwise

  /// Whether it is a scalar or a buffer.
  bool is_set() const noexcept { return !bytes.empty() || memory != nullptr; }
};

/// What a fake kernel sees of one launch. Valid during the call only.
class fake_launch {
 public:
  /// Refers to what it is given, which has to outlive it.
  fake_launch(const std::string& kernel, const nd_range& range, const fake_macros& macros,
              std::span<const fake_argument> arguments) noexcept
      : kernel_(kernel), range_(range), macros_(macros), arguments_(arguments) {}

  /// The name of the kernel.
  const std::string& kernel() const noexcept { return kernel_; }
  /// Global and local size in work items.
  const nd_range& range() const noexcept { return range_; }

  /// All macros of the program.
  const fake_macros& macros() const noexcept { return macros_; }
  /// The text of a macro. @throws argument_error if the program does not define it
  const std::string& macro(std::string_view name) const { return macros_.text(name); }
  /// The value of a macro. @throws argument_error if it is not defined or not an integer
  std::int64_t integer(std::string_view name) const { return macros_.integer(name); }

  /// A scalar argument. @throws argument_error if it is a buffer or has another size
  template <class T>
  requires std::is_trivially_copyable_v<T> T argument(std::size_t index)
  const {
    T value;
    std::memcpy(&value, scalar_bytes(index, sizeof value), sizeof value);
    return value;
  }

  /// The elements of a buffer argument. @throws argument_error if it is not a buffer
  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<T> buffer(std::size_t index)
  const {
    const std::span<std::byte> bytes = buffer_bytes(index);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// Calls visit(x, y, z) with the global id of each work item, x fastest.
  template <class Visitor>
  void for_each_item(Visitor&& visit) const {
    for (std::size_t z = 0; z < range_.global.z; ++z) {
      for (std::size_t y = 0; y < range_.global.y; ++y) {
        for (std::size_t x = 0; x < range_.global.x; ++x) visit(x, y, z);
      }
    }
  }

 private:
  const fake_argument& at(std::size_t index) const;
  const std::byte* scalar_bytes(std::size_t index, std::size_t size) const;
  std::span<std::byte> buffer_bytes(std::size_t index) const;

  const std::string& kernel_;
  const nd_range& range_;
  const fake_macros& macros_;
  std::span<const fake_argument> arguments_;
};

}  // namespace tune::testing
