// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "libtune/base/sha256.hpp"

namespace tune::detail {

/// The version of the files in the binary cache.
inline constexpr std::uint32_t binary_format = 1;

}  // namespace tune::detail

namespace tune {

/// All that a compiled program depends on, as named texts in an order that the caller keeps. Two
/// keys are the same only if they have the same names and texts in the same order: no text can pass
/// for two, and none runs into the next.
class binary_key {
 public:
  binary_key() = default;
  binary_key(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
    for (const auto& [name, text] : texts) add(name, text);
  }

  binary_key& add(std::string_view name, std::string_view text);

  /// The name of the key in the cache.
  detail::sha256_digest digest() const;

 private:
  std::string encoded_;
};

}  // namespace tune
