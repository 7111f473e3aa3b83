// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/program_digest.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "libtune/store/binary_key.hpp"
#include "libtune/store/sha256.hpp"

namespace tune {
namespace {

// Half of a SHA-256: nobody gains from a collision here, and people read these.
constexpr std::size_t digest_bytes = 16;

bool has_include_directive(std::string_view text) {
  constexpr std::string_view word = "include";
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    const std::size_t before = text.substr(0, at).find_last_not_of(" \t");
    if (before != std::string_view::npos && text[before] == '#') return true;
  }
  return false;
}

// -include and --pre-include name a file; -I and --include-path alone do nothing.
bool names_a_file(const std::string& option) {
  return option.starts_with("-include") || option.find("pre-include") != std::string::npos;
}

}  // namespace

bool depends_on_files(const program_source& source) {
  return has_include_directive(source.text) ||
         std::any_of(source.options.begin(), source.options.end(), names_a_file);
}

std::optional<std::string> program_digest(const program_source& source) {
  if (depends_on_files(source)) return std::nullopt;
  binary_key key{{"name", source.name}, {"text", source.text}};
  for (const std::string& option : source.options) key.add("option", option);
  const detail::sha256_digest digest = key.digest();
  return detail::to_hex(std::span(digest).first(digest_bytes));
}

}  // namespace tune
