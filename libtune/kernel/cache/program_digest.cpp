// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_digest.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "libtune/base/sha256.hpp"
#include "libtune/store/cache/binary_key.hpp"

namespace tune {
namespace {

// Half of a SHA-256: nobody gains from a collision here, and people read these.
constexpr std::size_t digest_bytes = 16;

constexpr std::string_view directive_blanks = " \t\v\f\r";

bool skip_token(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// The text as it is when directives are looked for: without trigraphs (OpenCL compilers read them)
/// and with lines joined that a backslash splits.
std::string joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  while (!text.empty()) {
    if (skip_token(text, "?\?=")) {
      joined += '#';
    } else if (text.front() == '\\' || text.starts_with("?\?/")) {
      if (!skip_token(text, "?\?/")) text.remove_prefix(1);
      // Blanks may stand between the two, which compilers merely warn of.
      const std::size_t next = text.find_first_not_of(directive_blanks);
      if (next != std::string_view::npos && text[next] == '\n') {
        text.remove_prefix(next + 1);
      } else {
        joined += '\\';
      }
    } else {
      joined += text.front();
      text.remove_prefix(1);
    }
  }
  return joined;
}

void skip_blanks_and_comments(std::string_view& text) {
  while (!text.empty()) {
    if (directive_blanks.find(text.front()) != std::string_view::npos) {
      text.remove_prefix(1);
    } else if (text.starts_with("/*")) {
      const std::size_t end = text.find("*/", 2);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    } else {
      return;
    }
  }
}

/// Whether a directive begins here that reads a file. The name of a directive stands there as it
/// is: no macro can make one.
bool is_reading_directive(std::string_view text) {
  if (!skip_token(text, "#") && !skip_token(text, "%:")) return false;
  skip_blanks_and_comments(text);
  return text.starts_with("include") || text.starts_with("__include") ||
         text.starts_with("import") || text.starts_with("embed");
}

/// Where directives stand is not looked at: one in a comment or a string costs the cache, one that
/// is missed makes an old program out of a new one.
bool may_read_files(std::string_view source) {
  const std::string text = joined_lines(source);
  for (const char* word : {"has_include", "has_embed", ".incbin", ".include"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  for (std::size_t at = text.find_first_of("#%"); at != std::string::npos;
       at = text.find_first_of("#%", at + 1)) {
    if (is_reading_directive(std::string_view(text).substr(at))) return true;
  }
  return false;
}

// -include, -imacros, --pre-include and those of precompiled headers. -I and --include-path alone
// do nothing. An option may hold several words.
bool names_a_file(const std::string& option) {
  for (std::size_t at = option.find("-include"); at != std::string::npos;
       at = option.find("-include", at + 1)) {
    if (!std::string_view(option).substr(at).starts_with("-include-path")) return true;
  }
  return option.find("-imacros") != std::string::npos || option.find("-pch") != std::string::npos;
}

}  // namespace

bool depends_on_files(const program_source& source) {
  return may_read_files(source.text) ||
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
