// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/cache/binary_header.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

namespace binary_header_test {

using tune::detail::binary_header;
using tune::detail::decode;
using tune::detail::encode;
using tune::detail::to_hex;

binary_header sample() {
  binary_header header;
  header.key.fill(std::byte{0xAA});
  header.length = 0x0102030405060708;
  header.content.fill(std::byte{0xBB});
  return header;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

TEST_CASE("a header has the bytes that are promised") {
  CHECK(to_hex(encode(sample())) ==
        "6c696274756e6500"  // "libtune"
        "01000000" +
            repeated("aa", 32) + "0807060504030201" + repeated("bb", 32));
}

TEST_CASE("a header is read back as it was written") {
  CHECK(decode(encode(sample())) == sample());
}

TEST_CASE("no bit of a header is without meaning") {
  const auto good = encode(sample());
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto flipped = good;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    CAPTURE(bit);
    const auto header = decode(flipped);
    CHECK(header != sample());
    CHECK(header.has_value() == (bit >= 8 * 12));
  }
}

}  // namespace binary_header_test
