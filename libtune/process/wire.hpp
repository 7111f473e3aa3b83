// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages between processes of this machine: structs as bytes, and bytes as frames. The fields of
// each struct are listed once, by a function
//
//   void describe(auto& wire, is<thing> auto& item) { wire(item.first, item.second); }
//
// that writes and reads them.
#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "libtune/base/error.hpp"

namespace tune::detail {

/// A message that no writer can have sent.
class wire_error : public error {
 public:
  using error::error;
};

/// Writes values one after the other, in the byte order of this machine: both ends run on it. Texts
/// and bytes have their length before them.
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

/// Reads what a wire_writer has written, in the same order; every length is checked.
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
  /// The number of items that follow. @param bytes_each  the least that one takes
  /// @throws wire_error if so many cannot follow
  std::size_t take_count(std::size_t bytes_each);

  std::size_t left() const noexcept { return rest_.size(); }
  /// @throws wire_error if anything is left
  void finish() const;

 private:
  std::span<const std::byte> take_bytes(std::uint64_t count);

  std::span<const std::byte> rest_;
};

/// Thing, or const Thing.
template <class T, class Thing>
concept is = std::same_as<std::remove_const_t<T>, Thing>;

/// The last enumerator of an enumeration that crosses the wire: each has a specialisation.
template <class Enumeration>
constexpr Enumeration last_of = Enumeration::undeclared;

/// Writes fields one after the other.
class field_writer {
 public:
  explicit field_writer(wire_writer& out) noexcept : out_(out) {}

  template <class... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }

 private:
  template <class Field>
  void put(const Field& field) {
    if constexpr (std::same_as<Field, bool>) {
      out_.add(static_cast<std::uint8_t>(field));
    } else if constexpr (std::integral<Field>) {
      out_.add(field);
    } else if constexpr (std::floating_point<Field>) {
      out_.add(std::bit_cast<std::uint64_t>(static_cast<double>(field)));
    } else if constexpr (std::is_enum_v<Field>) {
      out_.add(static_cast<std::uint32_t>(field));
    } else {
      describe(*this, field);
    }
  }
  void put(const std::string& text) { out_.add(text); }
  void put(std::monostate) {}
  template <class Rep, class Period>
  void put(const std::chrono::duration<Rep, Period>& time) {
    put(time.count());
  }
  template <class Item>
  void put(const std::optional<Item>& item) {
    put(item.has_value());
    if (item) put(*item);
  }
  template <class Item>
  void put(const std::vector<Item>& items) {
    out_.add(std::uint64_t{items.size()});
    for (const Item& item : items) put(item);
  }
  template <class... Items>
  void put(const std::variant<Items...>& item) {
    out_.add(static_cast<std::uint32_t>(item.index()));
    std::visit([this](const auto& held) { this->put(held); }, item);
  }

  wire_writer& out_;
};

/// Reads fields again. @throws wire_error for bytes that no field_writer can have written
class field_reader {
 public:
  explicit field_reader(wire_reader& in) noexcept : in_(in) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (take(fields), ...);
  }

 private:
  template <class Field>
  void take(Field& field) {
    if constexpr (std::same_as<Field, bool>) {
      const auto byte = in_.take<std::uint8_t>();
      if (byte > 1) throw wire_error("a truth value is neither true nor false");
      field = byte != 0;
    } else if constexpr (std::integral<Field>) {
      field = in_.take<Field>();
    } else if constexpr (std::floating_point<Field>) {
      field = static_cast<Field>(std::bit_cast<double>(in_.take<std::uint64_t>()));
    } else if constexpr (std::is_enum_v<Field>) {
      const auto number = in_.take<std::uint32_t>();
      if (number > static_cast<std::uint32_t>(last_of<Field>)) {
        throw wire_error("a word is none of those that there are");
      }
      field = static_cast<Field>(number);
    } else {
      describe(*this, field);
    }
  }
  void take(std::string& text) { text = in_.take_text(); }
  void take(std::monostate&) {}
  template <class Rep, class Period>
  void take(std::chrono::duration<Rep, Period>& time) {
    Rep count{};
    take(count);
    time = std::chrono::duration<Rep, Period>(count);
  }
  template <class Item>
  void take(std::optional<Item>& item) {
    bool has_value = false;
    take(has_value);
    item.reset();
    if (has_value) take(item.emplace());
  }
  // Whatever number the message claims, no more memory is taken than arrives.
  template <class Item>
  void take(std::vector<Item>& items) {
    items.clear();
    for (std::size_t left = in_.take_count(1); left > 0; --left) take(items.emplace_back());
  }
  template <class... Items>
  void take(std::variant<Items...>& item) {
    take_alternative(item, in_.take<std::uint32_t>(), std::index_sequence_for<Items...>{});
  }
  template <class Variant, std::size_t... Numbers>
  void take_alternative(Variant& item, std::uint32_t number, std::index_sequence<Numbers...>) {
    const bool known =
        ((number == Numbers && (take(item.template emplace<Numbers>()), true)) || ...);
    if (!known) throw wire_error("what came is of no known kind");
  }

  wire_reader& in_;
};

/// The frame of one protocol's messages: magic number, kind, length of the content, content.
struct frame_form {
  std::uint32_t magic = 0;
  std::size_t kind_bytes = 0;               ///< 0 where the content begins with its kind
  std::uint64_t longest_content_bytes = 0;  ///< a longer one is an error

  constexpr std::size_t header_bytes() const noexcept {
    return sizeof magic + kind_bytes + sizeof(std::uint64_t);
  }
};

/// A whole frame.
struct frame {
  std::span<const std::byte> kind;
  std::span<const std::byte> content;
};

/// Splits arriving bytes, in whatever pieces they come, into frames.
class frame_reader {
 public:
  explicit frame_reader(const frame_form& form) noexcept : form_(form) {}

  void append(std::span<const std::byte> bytes);
  /// The first frame that has not been dropped, valid until the next append; empty if it has not
  /// arrived whole. @throws wire_error if the bytes are no frame, now and from then on
  std::optional<frame> first() const;
  /// Goes on to the frame after `read`, which first() has returned.
  void drop(const frame& read) noexcept;

 private:
  frame_form form_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // of what has not been dropped
};

}  // namespace tune::detail
