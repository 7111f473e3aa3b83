// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/sha256.hpp"

#include <openssl/evp.h>
#include <string_view>

#include "libtune/base/error.hpp"

namespace tune::detail {

sha256_digest sha256(std::span<const std::byte> bytes) {
  sha256_digest digest;
  if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                 nullptr, EVP_sha256(), nullptr) != 1) {
    throw error("OpenSSL offers no SHA-256; look at the OpenSSL configuration of this program");
  }
  return digest;
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    const auto both = std::to_integer<unsigned>(byte);
    text += digits[both >> 4];
    text += digits[both & 15];
  }
  return text;
}

}  // namespace tune::detail
