// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/cache/binary_header.hpp"

#include <algorithm>
#include <string_view>

namespace tune::detail {
namespace {

constexpr std::string_view magic("libtune\0", 8);

constexpr std::size_t format_offset = 8;
constexpr std::size_t key_offset = 12;
constexpr std::size_t length_offset = 44;
constexpr std::size_t content_offset = 52;

template <class Integer>
void put(Integer value, std::byte* to) noexcept {
  for (std::size_t i = 0; i < sizeof value; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

template <class Integer>
Integer get(const std::byte* from) noexcept {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= std::to_integer<Integer>(from[i]) << (8 * i);
  }
  return value;
}

void put(const sha256_digest& digest, std::byte* to) noexcept { std::ranges::copy(digest, to); }

sha256_digest get_digest(const std::byte* from) noexcept {
  sha256_digest digest;
  std::copy_n(from, digest.size(), digest.begin());
  return digest;
}

}  // namespace

encoded_binary_header encode(const binary_header& header) noexcept {
  encoded_binary_header bytes;
  std::ranges::copy(std::as_bytes(std::span(magic)), bytes.begin());
  put(binary_format, &bytes[format_offset]);
  put(header.key, &bytes[key_offset]);
  put(header.length, &bytes[length_offset]);
  put(header.content, &bytes[content_offset]);
  return bytes;
}

std::optional<binary_header> decode(const encoded_binary_header& bytes) noexcept {
  if (!std::ranges::equal(std::as_bytes(std::span(magic)), std::span(bytes).first(magic.size())) ||
      get<std::uint32_t>(&bytes[format_offset]) != binary_format) {
    return std::nullopt;
  }
  return binary_header{.key = get_digest(&bytes[key_offset]),
                       .length = get<std::uint64_t>(&bytes[length_offset]),
                       .content = get_digest(&bytes[content_offset])};
}

}  // namespace tune::detail
