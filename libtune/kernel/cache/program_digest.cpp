// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_digest.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/library_version.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/kernel/compile_scope.hpp"

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

/// True if a directive begins here that reads a file. The name of a directive stands there as it
/// is: no macro can make one.
bool is_reading_directive(std::string_view text) {
  if (!skip_token(text, "#") && !skip_token(text, "%:")) return false;
  skip_blanks_and_comments(text);
  return text.starts_with("include") || text.starts_with("__include") ||
         text.starts_with("import") || text.starts_with("embed");
}

bool asks_for_files(const std::string& joined) {
  return std::ranges::any_of(
      std::array{"has_include", "has_embed", ".incbin", ".include"},
      [&](const char* word) { return joined.find(word) != std::string::npos; });
}

/// Calls a function with the rest of the text at each directive that reads a file. Where directives
/// stand is not looked at: one in a comment or a string costs the cache, one that is missed makes
/// an old program out of a new one.
template <class Function>
void for_each_reading_directive(const std::string& joined, Function&& function) {
  for (std::size_t at = joined.find_first_of("#%"); at != std::string::npos;
       at = joined.find_first_of("#%", at + 1)) {
    const std::string_view rest = std::string_view(joined).substr(at);
    if (is_reading_directive(rest)) function(rest);
  }
}

bool may_read_files(std::string_view source) {
  const std::string joined = joined_lines(source);
  bool reads = asks_for_files(joined);
  for_each_reading_directive(joined, [&](std::string_view) { reads = true; });
  return reads;
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

namespace fs = std::filesystem;

/// The files that a program includes, as far as their names and the options say where they are.
class included_files {
 public:
  explicit included_files(const program_source& source) {
    std::error_code ignored;
    const fs::path here = fs::current_path(ignored);
    add_folders(source.options);
    is_known_ = is_known_ && std::ranges::none_of(source.options, names_a_file);
    scan(source.text, here);
  }

  /// False if a file may be included whose name is not in the text.
  bool is_known() const noexcept { return is_known_; }

  void add_to(binary_key& key) const {
    for (const auto& [name, content] : contents_) key.add("file", name).add("content", content);
  }

 private:
  static constexpr std::size_t most_files = 64;
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;

  // "-I folder", "-Ifolder" and "--include-path=folder", of which an option may hold several.
  void add_folders(const std::vector<std::string>& options) {
    bool follows = false;
    for (const std::string& option : options) {
      std::istringstream words(option);
      for (std::string word; words >> word;) {
        std::string_view rest = word;
        if (std::exchange(follows, false)) {
          folders_.emplace_back(word);
        } else if (skip_token(rest, "-I") || skip_token(rest, "--include-path")) {
          skip_token(rest, "=");
          follows = rest.empty();
          if (!rest.empty()) folders_.emplace_back(rest);
        }
      }
    }
  }

  void scan(std::string_view text, const fs::path& folder) {
    const std::string joined = joined_lines(text);
    if (asks_for_files(joined)) is_known_ = false;
    for_each_reading_directive(joined, [&](std::string_view directive) {
      if (is_known_) take(directive, folder);
    });
  }

  // Another directive than #include, or a macro for the name, could mean any file.
  void take(std::string_view directive, const fs::path& folder) {
    if (!skip_token(directive, "#")) skip_token(directive, "%:");
    skip_blanks_and_comments(directive);
    is_known_ = skip_token(directive, "include");
    skip_blanks_and_comments(directive);
    const bool quoted = directive.starts_with('"');
    const std::size_t end = directive.find(quoted ? '"' : '>', 1);
    is_known_ =
        is_known_ && (quoted || directive.starts_with('<')) && end != std::string_view::npos;
    if (is_known_) read(std::string(directive.substr(1, end - 1)), quoted, folder);
  }

  // A file that is not found is the compiler's own.
  void read(const std::string& name, bool quoted, const fs::path& folder) {
    std::vector<fs::path> places = folders_;
    if (quoted) places.insert(places.begin(), folder);
    for (const fs::path& place : places) {
      const fs::path path = (place / name).lexically_normal();
      std::error_code failure;
      if (!fs::is_regular_file(path, failure)) continue;
      if (seen_.insert(path).second) add(name, path);
      return;
    }
  }

  void add(const std::string& name, const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), {}};
    bytes_ += content.size();
    is_known_ = !file.bad() && seen_.size() <= most_files && bytes_ <= most_bytes;
    if (!is_known_) return;
    contents_.emplace_back(name, content);
    scan(content, path.parent_path());
  }

  bool is_known_ = true;
  std::vector<fs::path> folders_;
  std::set<fs::path> seen_;
  std::size_t bytes_ = 0;
  std::vector<std::pair<std::string, std::string>> contents_;
};

binary_key text_key(const program_source& source) {
  binary_key key{{"name", source.name}, {"text", source.text}};
  for (const std::string& option : source.options) key.add("option", option);
  return key;
}

std::string short_digest(const binary_key& key) {
  const detail::sha256_digest digest = key.digest();
  return detail::to_hex(std::span(digest).first(digest_bytes));
}

constexpr std::size_t most = 64;

/// The expectations of one context, attached to it.
class expectations {
 public:
  void add(expected_program expected) const {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == most) waiting_.erase(waiting_.begin());
    waiting_.push_back({std::this_thread::get_id(), std::move(expected)});
  }

  /// Those of this thread that the macros fit, which are no longer waited for.
  std::vector<expected_program> take(const defines& macros) const;

 private:
  struct entry {
    std::thread::id thread;
    expected_program expected;
  };

  mutable std::mutex mutex_;
  mutable std::vector<entry> waiting_;
};

const value* find_macro(const defines& macros, const std::string& name) {
  const auto found = std::ranges::find(macros.values(), name, &named_value::name);
  return found == macros.values().end() ? nullptr : &found->value;
}

bool is_of(const defines& macros, const expected_program& expected) {
  const auto is_there = [&](const named_value& item) {
    const value* macro = find_macro(macros, item.name);
    return macro != nullptr && *macro == item.value;
  };
  const auto fits = [&](const named_value& item) {
    const value* macro = find_macro(macros, item.name);
    return macro == nullptr || *macro == item.value;
  };
  return std::ranges::all_of(expected.configuration, is_there) &&
         std::ranges::all_of(expected.key, fits);
}

enum class answer { same, other, unknown };

answer compare(const expected_program& expected, const std::string& digest) {
  const std::vector<std::string> digests = expected.digests();
  const auto has = [&](const std::string& one) {
    return std::ranges::find(digests, one) != digests.end();
  };
  if (has(digest)) return answer::same;
  return digests.empty() || has(compile_scope::unknown_program) ? answer::unknown : answer::other;
}

std::vector<expected_program> expectations::take(const defines& macros) const {
  const std::lock_guard lock(mutex_);
  const auto fitting = std::ranges::stable_partition(waiting_, [&](const entry& one) {
    return one.thread != std::this_thread::get_id() || !is_of(macros, one.expected);
  });
  std::vector<expected_program> taken;
  for (entry& one : fitting) taken.push_back(std::move(one.expected));
  waiting_.erase(fitting.begin(), fitting.end());
  return taken;
}

void compare(const std::vector<expected_program>& meant, const program_source& source) {
  if (meant.empty()) return;
  const std::string digest = watched_digest(source);
  if (digest == compile_scope::unknown_program) return;
  bool differs = meant.size() == 1;
  for (const expected_program& one : meant)
    differs = compare(one, digest) == answer::other && differs;
  if (differs) meant.front().differs();
}

}  // namespace

bool depends_on_files(const program_source& source) {
  return may_read_files(source.text) || std::ranges::any_of(source.options, names_a_file);
}

std::optional<std::string> program_digest(const program_source& source) {
  if (depends_on_files(source)) return std::nullopt;
  return short_digest(text_key(source));
}

std::string watched_digest(const program_source& source) {
  if (auto digest = program_digest(source)) return *std::move(digest);
  const included_files files(source);
  if (!files.is_known()) return "?";
  binary_key key = text_key(source);
  files.add_to(key);
  return "?" + short_digest(key);
}

binary_key program_key(const context& context, const program_source& source) {
  const tune::device handle = context.device();
  const device_info& device = handle.info();
  binary_key key{{"backend", device.backend},
                 {"device", device.identity.name},
                 {"platform", device.identity.platform},
                 {"driver", device.identity.driver_version},
                 {"compiler", context.compiler_identity()},
                 {"libtune", library_version()},
                 {"name", source.name},
                 {"text", source.text}};
  for (const std::string& option : source.options) key.add("option", option);
  return key;
}

void expect_program(const context& context, expected_program expected) {
  static constinit std::mutex attaching;
  std::shared_ptr<const expectations> attached;
  {
    const std::lock_guard lock(attaching);
    attached = context.attachment<expectations>();
    if (attached == nullptr) {
      attached = std::make_shared<const expectations>();
      context.attach(attached);
    }
  }
  attached->add(std::move(expected));
}

void compare_with_expected(const context& context, const defines& macros,
                           const program_source& source) noexcept {
  try {
    const auto attached = context.attachment<expectations>();
    if (attached != nullptr) compare(attached->take(macros), source);
  } catch (...) {
    // Without memory nothing can be compared; compiling says what is wrong.
  }
}

}  // namespace tune
