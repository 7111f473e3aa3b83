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

constexpr frame_form with_kind{.magic = 0xABCD, .kind_bytes = 4, .longest_content_bytes = 8};
constexpr frame_form without_kind{.magic = 0xABCD, .longest_content_bytes = 8};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> make_frame(const frame_form& form, std::string_view kind,
                                  std::string_view content) {
  wire_writer writer;
  writer.add(form.magic);
  for (const char each : kind) writer.add(each);
  writer.add(content);
  return writer.bytes();
}

/// Reads a whole frame and goes on to the next: "kind:content", empty if none is whole.
std::string take(frame_reader& reader) {
  const auto whole = reader.first();
  if (!whole) return {};
  std::string text = text_of(whole->kind) + ":" + text_of(whole->content);
  reader.drop(*whole);
  return text;
}

TEST_CASE("a frame that arrives byte by byte is whole with its last byte") {
  for (const frame_form& form : {with_kind, without_kind}) {
    const std::string kind = form.kind_bytes == 0 ? "" : "kind";
    frame_reader reader(form);
    for (const std::string content : {"content", "", "12345678"}) {
      const auto bytes = make_frame(form, kind, content);
      CHECK(bytes.size() == form.header_bytes() + content.size());
      for (const std::byte byte : bytes) {
        CHECK_FALSE(reader.first().has_value());
        reader.append({&byte, 1});
      }
      CHECK(take(reader) == kind + ":" + content);
    }
  }
}

TEST_CASE("frames that arrive together, with a part of the next, come out one by one") {
  std::vector<std::byte> bytes;
  for (const char* content : {"one", "two", "three"}) {
    const auto each = make_frame(with_kind, "kind", content);
    bytes.insert(bytes.end(), each.begin(), each.end());
  }
  frame_reader reader(with_kind);
  reader.append(std::span(bytes).first(bytes.size() - 1));
  CHECK(take(reader) == "kind:one");
  CHECK(take(reader) == "kind:two");
  CHECK_FALSE(reader.first().has_value());
  reader.append(std::span(bytes).last(1));
  CHECK(take(reader) == "kind:three");
  CHECK_FALSE(reader.first().has_value());
}

TEST_CASE("a frame is the first until it is dropped") {
  frame_reader reader(without_kind);
  reader.append(make_frame(without_kind, "", "one"));
  reader.append(make_frame(without_kind, "", "two"));
  for (int i = 0; i < 2; ++i) CHECK(text_of(reader.first()->content) == "one");
  reader.drop(*reader.first());
  CHECK(take(reader) == ":two");
}

TEST_CASE("what is no frame is refused with its header, and nothing is read after it") {
  auto bytes = make_frame(with_kind, "kind", "content");
  SUBCASE("another magic number") { bytes[0] ^= std::byte{1}; }
  SUBCASE("a content one byte too long") { bytes[8] = std::byte{9}; }
  SUBCASE("a content of nearly 2^64 bytes") { std::memset(&bytes[8], 0xFF, 8); }
  frame_reader reader(with_kind);
  reader.append(std::span(bytes).first(with_kind.header_bytes() - 1));
  CHECK_FALSE(reader.first().has_value());
  reader.append(std::span(bytes).subspan(with_kind.header_bytes() - 1));
  CHECK_THROWS_AS(static_cast<void>(reader.first()), wire_error);
  reader.append(make_frame(with_kind, "kind", "good"));
  CHECK_THROWS_AS(static_cast<void>(reader.first()), wire_error);
}

}  // namespace wire_test
