// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/expected_program.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile_scope.hpp"

namespace tune {
namespace {

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
