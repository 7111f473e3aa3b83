// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_digest.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/library_version.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/kernel/cache/included_memory.hpp"
#include "libtune/kernel/compile_scope.hpp"

namespace tune {
namespace {

// Half of a SHA-256: collisions are no risk here, and the digests are shown to people.
constexpr std::size_t digest_bytes = 16;

void add_text(binary_key& key, const program_source& source) {
  key.add("name", source.name).add("text", source.text);
  for (const std::string& option : source.options) key.add("option", option);
  for (const kernel_header& header : source.headers) {
    key.add("header", header.name).add("content", header.text);
  }
}

binary_key text_key(const program_source& source) {
  binary_key key;
  add_text(key, source);
  return key;
}

std::string short_digest(const binary_key& key) {
  const detail::sha256_digest digest = key.digest();
  return detail::to_hex(std::span(digest).first(digest_bytes));
}

constexpr std::size_t most = 64;

/// The expected programs of a context, attached to it.
class expectations {
 public:
  void add(expected_program expected) const {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == most) waiting_.erase(waiting_.begin());
    waiting_.push_back({std::this_thread::get_id(), std::move(expected)});
  }

  /// Removes and returns the expectations of this thread that match the macros.
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
  const auto fitting =
      std::stable_partition(waiting_.begin(), waiting_.end(), [&](const entry& one) {
        return one.thread != std::this_thread::get_id() || !is_of(macros, one.expected);
      });
  std::vector<expected_program> taken;
  for (auto one = fitting; one != waiting_.end(); ++one) taken.push_back(std::move(one->expected));
  waiting_.erase(fitting, waiting_.end());
  return taken;
}

/// True if the program differs from the expected one.
bool is_another(const std::vector<expected_program>& meant, const context& context,
                const program_source& source) {
  if (meant.empty()) return false;
  const std::string digest = watched_digest(context, source);
  if (digest == compile_scope::unknown_program) return false;
  bool differs = meant.size() == 1;
  for (const expected_program& one : meant)
    differs = compare(one, digest) == answer::other && differs;
  return differs;
}

}  // namespace

std::string program_digest(const program_source& source) { return short_digest(text_key(source)); }

std::string watched_digest(const context& context, const program_source& source) {
  if (!may_include(source)) return program_digest(source);
  const included_files files = present_included(context, source);
  if (!files) return compile_scope::unknown_program;
  binary_key key = text_key(source);
  for (const included_file& file : *files) key.add("file", file.path).add("content", file.digest);
  return compile_scope::unknown_program + short_digest(key);
}

binary_key program_key(const context& context, const program_source& source) {
  const tune::device handle = context.device();
  const device_info& device = handle.info();
  binary_key key{{"backend", device.backend},
                 {"device", device.identity.name},
                 {"platform", device.identity.platform},
                 {"driver", device.identity.driver_version},
                 {"compiler", context.compiler_identity()},
                 {"libtune", library_version()}};
  add_text(key, source);
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
                           const program_source& source) {
  std::vector<expected_program> meant;
  try {
    if (const auto attached = context.attachment<expectations>()) meant = attached->take(macros);
    if (!is_another(meant, context, source)) return;
  } catch (...) {
    return;  // out of memory: nothing is compared, and compiling reports the error
  }
  meant.front().differs();
}

}  // namespace tune
