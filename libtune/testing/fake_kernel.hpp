// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::testing {

/// The macros of a program's text, by which a fake kernel knows its configuration. Read from its
/// "#define NAME TEXT" lines; macros with parameters are left out, conditions are not evaluated,
/// and of two definitions of one name the later counts.
class fake_macros {
 public:
  fake_macros() = default;
  /// Reads the macros of this text, and keeps nothing of it.
  explicit fake_macros(std::string_view program_text);

  /// True if the text defines a macro of this name.
  bool defined(std::string_view name) const { return macros_.find(name) != macros_.end(); }

  /// The macro's text. @throws argument_error if it is not defined
  const std::string& text(std::string_view name) const;

  /// The macro's value. @throws argument_error if it is not defined or not an integer
  std::int64_t integer(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> macros_;
};

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

  /// True if it is a scalar or a buffer.
  bool is_set() const noexcept { return !bytes.empty() || memory != nullptr; }
};

/// One launch, as a fake kernel sees it. Valid during the call only.
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

/// The values that may be set as one argument of a fake kernel.
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

  /// True if it may be set to a buffer.
  bool takes_buffer() const noexcept { return takes_buffer_; }
  /// Of the scalar that it takes, and no other; empty if it takes none, or any.
  std::optional<std::size_t> scalar_bytes() const noexcept { return size_; }
  /// True if it may be set to a scalar of so many bytes.
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
  /// The registers of a work item; empty means that they are not known.
  std::function<std::size_t(const fake_macros&)> registers = {};
  /// The largest work group, where it is less than the device's; zero means the device's.
  std::size_t max_work_group_size = 0;
  /// The only work group that it may be launched with; empty means any.
  std::function<work_size(const fake_macros&)> required_work_group_size = {};
};

}  // namespace tune::testing
