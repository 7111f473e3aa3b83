// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/sha256.hpp"

// The plain functions work until the very end of the process, whatever OpenSSL's configuration. The
// newer ones fail once OpenSSL has destroyed its own state.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/sha.h>
#include <string_view>

namespace tune::detail {

sha256_digest sha256(std::span<const std::byte> bytes) {
  sha256_digest digest;
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &state);
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
