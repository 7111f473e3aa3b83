// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/sha256.hpp"

#include <doctest/doctest.h>
#include <string>
#include <string_view>

namespace sha256_test {

std::string hex_of(std::string_view text) {
  return tune::detail::to_hex(tune::detail::sha256(std::as_bytes(std::span(text))));
}

TEST_CASE("the digests are those of FIPS 180") {
  CHECK(hex_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex_of(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("hexadecimal digits come two for each byte, the high one first") {
  using std::byte;
  const std::array bytes{byte{0x00}, byte{0x0F}, byte{0xA0}, byte{0xFF}};
  CHECK(tune::detail::to_hex(bytes) == "000fa0ff");
  CHECK(tune::detail::to_hex({}).empty());
}

}  // namespace sha256_test
