// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/expected_program.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile_watch.hpp"

namespace tune {
namespace {

constexpr std::size_t most = 16;

/// What a thread waits for. It ends with the thread, whose last destructors may still compile: what
/// is expected then is not compared.
struct expectations {
  ~expectations();
  std::vector<expected_program> all;
};

enum class thread_stage : char { fresh, expecting, over };
constinit thread_local thread_stage stage = thread_stage::fresh;

expectations::~expectations() { stage = thread_stage::over; }

std::vector<expected_program>& waiting() {
  thread_local expectations expected;
  stage = thread_stage::expecting;
  return expected.all;
}

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
  return digests.empty() || has(compile_watch::unknown_program) ? answer::unknown : answer::other;
}

void meet(const defines& macros, const program_source& source) {
  const auto others = std::ranges::stable_partition(
      waiting(), [&](const expected_program& one) { return !is_of(macros, one); });
  const std::vector<expected_program> meant(std::make_move_iterator(others.begin()),
                                            std::make_move_iterator(others.end()));
  waiting().erase(others.begin(), others.end());
  if (meant.empty()) return;
  const std::optional<std::string> digest = program_digest(source);
  if (!digest) return;
  bool differs = meant.size() == 1;
  for (const expected_program& one : meant)
    differs = compare(one, *digest) == answer::other && differs;
  if (differs) meant.front().differs();
}

}  // namespace

void expect_program(expected_program expected) {
  if (stage == thread_stage::over) return;
  if (waiting().size() == most) waiting().erase(waiting().begin());
  waiting().push_back(std::move(expected));
}

void meet_expected_program(const defines& macros, const program_source& source) noexcept {
  if (stage != thread_stage::expecting || waiting().empty()) return;
  try {
    meet(macros, source);
  } catch (...) {
    // Without memory nothing can be compared; compiling says what is wrong.
  }
}

}  // namespace tune
