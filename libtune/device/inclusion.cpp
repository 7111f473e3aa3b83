// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/inclusion.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "libtune/base/sha256.hpp"

namespace tune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view blanks = " \t\v\f\r";

bool skip_token(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// Returns the text for the search for directives: trigraphs are replaced (OpenCL compilers read
/// them) and lines split by a backslash are joined.
std::string joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  // Each is searched from its last place, so that the text is read once.
  std::size_t question = text.find('?');
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t next = std::min({text.find('\\', at), question, text.size()});
    joined += text.substr(at, next - at);
    std::string_view left = text.substr(next);
    if (left.empty()) break;
    if (skip_token(left, "?\?=")) {
      joined += '#';
    } else if (skip_token(left, "\\") || skip_token(left, "?\?/")) {
      // Blanks may stand between backslash and line feed; compilers only warn of them.
      const std::size_t end = left.find_first_not_of(blanks);
      if (end != std::string_view::npos && left[end] == '\n') {
        left.remove_prefix(end + 1);
      } else {
        joined += '\\';
      }
    } else {
      joined += left.front();
      left.remove_prefix(1);
    }
    at = text.size() - left.size();
    if (question < at) question = text.find('?', at);
  }
  return joined;
}

/// A word and the place of its letter that is the least frequent in programs: all programs are
/// searched for all words, and every occurrence of the letter takes time.
struct rare_word {
  std::string_view text;
  std::size_t rare;

  std::size_t find_in(std::string_view where, std::size_t from) const {
    for (std::size_t at = where.find(text[rare], from + rare); at != std::string_view::npos;
         at = where.find(text[rare], at + 1)) {
      const std::size_t first = at - rare;
      if (where[first] == text[0] && where.substr(first).starts_with(text)) return first;
    }
    return std::string_view::npos;
  }
};

constexpr rare_word include_word{"include", 4};
constexpr rare_word import_word{"import", 2};
constexpr rare_word embed_word{"embed", 2};
constexpr rare_word incbin_word{".incbin", 4};

/// True if a word occurs where the name of a directive may: after #, %: or the end of a comment (or
/// inside a longer name). Macros cannot create directives.
bool has_directive(std::string_view joined, const rare_word& word) {
  for (std::size_t at = word.find_in(joined, 0); at != std::string_view::npos;
       at = word.find_in(joined, at + 1)) {
    const std::size_t before = joined.substr(0, at).find_last_not_of(blanks);
    const std::string_view text =
        joined.substr(0, before == std::string_view::npos ? 0 : before + 1);
    for (const char* end : {"#", "%:", "*/", "_"}) {
      if (text.ends_with(end)) return true;
    }
  }
  return false;
}

bool embeds(std::string_view joined) {
  return has_directive(joined, embed_word) ||
         incbin_word.find_in(joined, 0) != std::string_view::npos;
}

bool has_option(const program_source& source, std::string_view word) {
  return std::ranges::any_of(source.options, [&](const std::string& option) {
    for (std::size_t at = option.find(word); at != std::string::npos;
         at = option.find(word, at + 1)) {
      if (!std::string_view(option).substr(at).starts_with("-include-path")) return true;
    }
    return false;
  });
}

bool reads_untold(const program_source& source, std::string_view joined) {
  const auto reads = [](const std::string& text) { return embeds(joined_lines(text)); };
  return embeds(joined) || has_option(source, "-pch") ||
         std::ranges::any_of(source.headers, reads, &kernel_header::text);
}

std::string digest_of(const std::string& text) {
  return detail::to_hex(detail::sha256(std::as_bytes(std::span(text))));
}

}  // namespace

bool may_include(const program_source& source) {
  const std::string joined = joined_lines(source.text);
  return has_directive(joined, include_word) || has_directive(joined, import_word) ||
         has_option(source, "-include") || has_option(source, "-imacros") ||
         reads_untold(source, joined);
}

bool reads_untold(const program_source& source) {
  return reads_untold(source, joined_lines(source.text));
}

std::optional<std::string> read_text(const fs::path& path) {
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return file.bad() || !file.is_open() ? std::nullopt : std::optional(std::move(text));
}

included_files read_included(const std::vector<std::string>& paths, fs::file_time_type since) {
  std::map<std::string, std::string> digests;
  for (const std::string& path : paths) {
    std::error_code failure;
    const std::string absolute = fs::absolute(path, failure).lexically_normal().string();
    if (failure || digests.contains(absolute)) continue;
    const auto text = read_text(absolute);
    if (!text || fs::last_write_time(absolute, failure) > since || failure) return std::nullopt;
    digests.emplace(absolute, digest_of(*text));
  }
  std::vector<included_file> files;
  files.reserve(digests.size());
  for (auto& [path, digest] : digests) files.push_back({path, std::move(digest)});
  return files;
}

included_files read_again(std::span<const included_file> files) {
  std::vector<included_file> now;
  for (const included_file& file : files) {
    const auto text = read_text(file.path);
    if (!text) return std::nullopt;
    now.push_back({file.path, digest_of(*text)});
  }
  return now;
}

std::vector<std::string> with_include_folders(
    const std::vector<std::string>& options,
    const std::function<std::string(const std::string&)>& replace) {
  std::vector<std::string> replaced;
  bool follows = false;
  for (const std::string& option : options) {
    if (!follows && option.find("-I") == std::string::npos) {
      replaced.push_back(option);
      continue;
    }
    std::istringstream words(option);
    std::string text;
    for (std::string word; words >> word;) {
      if (std::exchange(follows, word == "-I")) {
        word = replace(word);
      } else if (word.starts_with("-I") && word.size() > 2) {
        word = "-I" + replace(word.substr(2));
      }
      text += (text.empty() ? "" : " ") + word;
    }
    replaced.push_back(text);
  }
  return replaced;
}

}  // namespace tune
