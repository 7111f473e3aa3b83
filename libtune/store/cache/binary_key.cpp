// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/cache/binary_key.hpp"

#include <span>

namespace tune {
namespace {

// The length comes first, so that no content can look like the end of a text.
void append(std::string& encoded, std::string_view text) {
  encoded += std::to_string(text.size());
  encoded += ':';
  encoded += text;
}

}  // namespace

binary_key& binary_key::add(std::string_view name, std::string_view text) {
  append(encoded_, name);
  append(encoded_, text);
  return *this;
}

detail::sha256_digest binary_key::digest() const {
  // Releases with different formats thus have different files, and never replace each other's.
  const std::string whole = std::to_string(detail::binary_format) + ';' + encoded_;
  return detail::sha256(std::as_bytes(std::span(whole)));
}

}  // namespace tune
