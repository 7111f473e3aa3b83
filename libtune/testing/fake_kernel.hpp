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

/// The macros of a program's text, which give a fake kernel its configuration. Read from its
/// "#define NAME TEXT" lines; macros with parameters are skipped, conditions are not evaluated, and
/// the later of two definitions of a name is used.
class fake_macros {
 public:
  fake_macros() = default;
  /// Reads the macros of this text, without keeping a reference.
  explicit fake_macros(std::string_view program_text);

  /// True if the text defines a macro of this name.
  bool defined(std::string_view name) const { return macros_.find(name) != macros_.end(); }

  /// The macro's text. @throws argument_error if it is not defined
  const std::string& text(std::string_view name) const;

  /// The macro's value. @throws argument_error if it is undefined or no integer
  std::int64_t integer(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> macros_;
};

/// Device memory that a fake kernel may read and write.
class fake_memory {
 public:
  /// Its bytes on the host, which may be changed.
  virtual std::span<std::byte> contents() noexcept = 0;

 protected:
  ~fake_memory() = default;
};

/// An argument: the bytes of a scalar, or a buffer; neither if it was not set.
struct fake_argument {
  std::vector<std::byte> bytes = {};    ///< bytes of a scalar; empty otherwise
  std::shared_ptr<fake_memory> memory;  ///< memory of a buffer; null otherwise

  /// True if it is a scalar or a buffer.
  bool is_set() const noexcept { return !bytes.empty() || memory != nullptr; }
};

/// One launch, in the view of a fake kernel. Valid only during the call.
class fake_launch {
 public:
  /// All references must outlive it.
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
  /// The value of a macro. @throws argument_error if it is undefined or no integer
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
  /// Accepts any value.
  fake_parameter() = default;
  /// Accepts a buffer only.
  static fake_parameter buffer() { return fake_parameter(true, std::nullopt); }
  /// Accepts only a scalar of sizeof(T) bytes.
  template <class T>
  static fake_parameter scalar() {
    return fake_parameter(false, sizeof(T));
  }

  /// True if it accepts a buffer.
  bool takes_buffer() const noexcept { return takes_buffer_; }
  /// The size of the only accepted scalar; empty if it accepts no scalar, or any.
  std::optional<std::size_t> scalar_bytes() const noexcept { return size_; }
  /// True if it accepts a scalar of this size.
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

/// A kernel that is a host function.
struct fake_kernel {
  std::vector<fake_parameter> parameters = {};  ///< in order, one for each argument
  /// Does the work of all work items. It is not called for a failing launch; its exceptions leave
  /// the launch.
  std::function<void(fake_launch&)> run = {};
  /// The local memory of a work group; empty for none.
  std::function<std::size_t(const fake_macros&)> local_memory_bytes = {};
  /// The registers of a work item; empty if unknown.
  std::function<std::size_t(const fake_macros&)> registers = {};
  /// The largest work group, if less than the device's; zero for the device's.
  std::size_t max_work_group_size = 0;
  /// The only work group for launches; empty for any.
  std::function<work_size(const fake_macros&)> required_work_group_size = {};
};

}  // namespace tune::testing
