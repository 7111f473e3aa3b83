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

/// Writes values one after the other, in the byte order of this machine, on which both ends run.
/// Texts and bytes are preceded by their length.
class wire_writer {
 public:
  template <class T>
  requires std::integral<T>
  void add(T value) { append(&value, sizeof value); }
  void add(std::string_view text);
  void add(std::span<const std::byte> bytes);

  std::vector<std::byte>& bytes() noexcept { return bytes_; }

 private:
  // Not inline, because g++ 12 warns about the inlined code.
  void append(const void* from, std::size_t count);

  std::vector<std::byte> bytes_;
};

/// Reads values from a wire_writer in the same order; every length is checked.
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
  /// The number of items that follow. @param bytes_each  the least number of bytes of one item
  /// @throws wire_error if the remaining bytes cannot hold that many
  std::size_t take_count(std::size_t bytes_each);

  std::size_t left() const noexcept { return rest_.size(); }
  /// @throws wire_error if bytes are left
  void finish() const;

 private:
  std::span<const std::byte> take_bytes(std::uint64_t count);

  std::span<const std::byte> rest_;
};

/// Matches Thing and const Thing.
template <class T, class Thing>
concept is = std::same_as<std::remove_const_t<T>, Thing>;

/// The last enumerator of an enumeration that crosses the wire; each such enumeration has a
/// specialisation.
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
  void put(const std::vector<std::byte>& bytes) { out_.add(std::span(bytes)); }
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

/// Reads the fields that a field_writer wrote. @throws wire_error for any other bytes
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
        throw wire_error("the number of an enumerator is out of range");
      }
      field = static_cast<Field>(number);
    } else {
      describe(*this, field);
    }
  }
  void take(std::string& text) { text = in_.take_text(); }
  void take(std::vector<std::byte>& bytes) { bytes = in_.take_block(); }
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
    if (!has_value) return item.reset();
    Item value{};  // a variable, because GCC 14 takes the object that emplace() destroys for
                   // uninitialised
    take(value);
    item = std::move(value);
  }
  // Memory grows with the bytes that arrive, whatever count the message claims.
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
    if (!known) throw wire_error("the kind of a message is unknown");
  }

  wire_reader& in_;
};

/// The frame of one protocol's messages: magic number, length of the content, content.
struct frame_form {
  std::uint32_t magic = 0;
  std::uint64_t longest_content_bytes = 0;  ///< frames with longer content are errors

  static constexpr std::size_t header_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
};

/// Splits arriving bytes, in pieces of any size, into frames.
class frame_reader {
 public:
  explicit frame_reader(const frame_form& form) noexcept : form_(form) {}

  void append(std::span<const std::byte> bytes);
  /// The content of the first frame that has not been dropped, valid until the next append; empty
  /// if the frame is incomplete.
  /// @throws wire_error if the bytes are not a frame; every later call throws too
  std::optional<std::span<const std::byte>> first() const;
  /// Drops the frame with this content, which first() has returned.
  void drop(std::span<const std::byte> content) noexcept;

 private:
  frame_form form_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // offset of the first byte that has not been dropped
};

/// The frame of a message; the message is a variant of described structs.
/// @throws wire_error with this text if it is longer than the form allows
template <class Message>
std::vector<std::byte> encode_message(const frame_form& form, const Message& message,
                                      const char* too_long) {
  wire_writer writer;
  writer.add(form.magic);
  writer.add(std::uint64_t{0});
  field_writer fields(writer);
  fields(message);
  const std::uint64_t length = writer.bytes().size() - frame_form::header_bytes;
  if (length > form.longest_content_bytes) throw wire_error(too_long);
  std::memcpy(writer.bytes().data() + sizeof form.magic, &length, sizeof length);
  return std::move(writer.bytes());
}

/// The next message of the arrived bytes; empty if it is incomplete. A greeting may be longer than
/// its known fields, because another version may add some.
/// @throws wire_error if the bytes are not a message; every later call throws too
template <class Message, class Greeting>
std::optional<Message> next_message(frame_reader& frames) {
  const auto content = frames.first();
  if (!content) return std::nullopt;
  wire_reader reader(*content);
  Message message;
  field_reader fields(reader);
  fields(message);
  if (!std::holds_alternative<Greeting>(message)) reader.finish();
  frames.drop(*content);
  return message;
}

}  // namespace tune::detail
