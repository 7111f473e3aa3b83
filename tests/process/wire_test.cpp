// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/wire.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <string_view>

namespace wire_test {

using tune::detail::frame_form;
using tune::detail::frame_reader;
using tune::detail::wire_error;
using tune::detail::wire_writer;

constexpr frame_form form{.magic = 0xABCD, .longest_content_bytes = 8};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> make_frame(std::string_view content) {
  wire_writer writer;
  writer.add(form.magic);
  writer.add(content);
  return writer.bytes();
}

/// Reads a whole frame and goes on to the next; "none" if none is whole.
std::string take(frame_reader& reader) {
  const auto whole = reader.first();
  if (!whole) return "none";
  std::string text = text_of(*whole);
  reader.drop(*whole);
  return text;
}

TEST_CASE("a frame that arrives byte by byte is whole with its last byte") {
  frame_reader reader(form);
  for (const std::string content : {"content", "", "12345678"}) {
    const auto bytes = make_frame(content);
    CHECK(bytes.size() == frame_form::header_bytes + content.size());
    for (const std::byte byte : bytes) {
      CHECK_FALSE(reader.first().has_value());
      reader.append({&byte, 1});
    }
    CHECK(take(reader) == content);
  }
}

TEST_CASE("frames that arrive together, with a part of the next, come out one by one") {
  std::vector<std::byte> bytes;
  for (const char* content : {"one", "two", "three"}) {
    const auto each = make_frame(content);
    bytes.insert(bytes.end(), each.begin(), each.end());
  }
  frame_reader reader(form);
  reader.append(std::span(bytes).first(bytes.size() - 1));
  CHECK(text_of(*reader.first()) == "one");  // until it is dropped
  CHECK(take(reader) == "one");
  CHECK(take(reader) == "two");
  CHECK(take(reader) == "none");
  reader.append(std::span(bytes).last(1));
  CHECK(take(reader) == "three");
  CHECK(take(reader) == "none");
}

TEST_CASE("what is no frame is refused with its header, and nothing is read after it") {
  auto bytes = make_frame("content");
  SUBCASE("another magic number") { bytes[0] ^= std::byte{1}; }
  SUBCASE("a content one byte too long") { bytes[4] = std::byte{9}; }
  SUBCASE("a content of nearly 2^64 bytes") { std::memset(&bytes[4], 0xFF, 8); }
  frame_reader reader(form);
  reader.append(std::span(bytes).first(frame_form::header_bytes - 1));
  CHECK_FALSE(reader.first().has_value());
  reader.append(std::span(bytes).subspan(frame_form::header_bytes - 1));
  CHECK_THROWS_AS(static_cast<void>(reader.first()), wire_error);
  reader.append(make_frame("good"));
  CHECK_THROWS_AS(static_cast<void>(reader.first()), wire_error);
}

}  // namespace wire_test
