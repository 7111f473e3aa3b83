// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/error.hpp"

namespace tune::detail {

/// What came from the other end of a channel means nothing.
class wire_error : public error {
 public:
  using error::error;
};

/// Puts values one after the other, as this machine has them: both ends run on it. Texts and
/// bytes have their length before them.
class wire_writer {
 public:
  template <class T>
  requires std::integral<T>
  void add(T value) { append(&value, sizeof value); }
  void add(std::string_view text);
  void add(std::span<const std::byte> bytes);

  std::vector<std::byte>& bytes() noexcept { return bytes_; }

 private:
  // Not inline, for g++ 12 warns of what it makes of that.
  void append(const void* from, std::size_t count);

  std::vector<std::byte> bytes_;
};

/// Takes them again, in the same order; trusts nothing.
class wire_reader {
 public:
  explicit wire_reader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  /// @throws wire_error if there are too few bytes
  template <class T>
  requires std::integral<T> T take() {
    T value{};
    const auto bytes = take_bytes(sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string take_text();
  std::vector<std::byte> take_block();
  /// How many items follow, of which each takes this many bytes at least.
  std::size_t take_count(std::size_t bytes_each);

  std::size_t left() const noexcept { return rest_.size(); }
  /// @throws wire_error if anything is left
  void finish() const;

 private:
  std::span<const std::byte> take_bytes(std::uint64_t count);

  std::span<const std::byte> rest_;
};

}  // namespace tune::detail
