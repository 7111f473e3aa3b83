// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/seal.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <pthread.h>
#include <span>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define LIBTUNE_HAS_BACKTRACE 1
#endif

#include "libtune/base/never_destroyed.hpp"

namespace tune {
namespace {

// The program's seal and the number of all seals change together, under the lock; doors read them
// without it.
std::mutex& seal_mutex() {
  static detail::never_destroyed<std::mutex> mutex;
  return *mutex;
}
constinit std::atomic<int> program_seal{-1};  // a seal_mode, or -1

// Trivially destructible, because the main thread meets doors after the destruction of its
// thread-local variables.
constinit thread_local std::optional<seal_mode> own_seal;
constinit thread_local int sections = 0;

void set_own_seal(std::optional<seal_mode> mode) noexcept {
  detail::seals += int{mode.has_value()} - int{own_seal.has_value()};
  own_seal = mode;
}

/// Ends a thread's own seal with the thread.
struct thread_end {
  ~thread_end() { set_own_seal(std::nullopt); }
};

void seal_this_thread(seal_mode mode) noexcept {
  thread_local const thread_end end;
  static_cast<void>(&end);
  set_own_seal(mode);
}

std::optional<seal_mode> present_seal() noexcept {
  if (sections > 0) return std::nullopt;
  if (own_seal) return own_seal;
  const int mode = program_seal.load(std::memory_order_relaxed);
  return mode < 0 ? std::nullopt : std::optional(static_cast<seal_mode>(mode));
}

/// The breaches of all threads, counted since the last reset.
struct breaches {
  std::mutex mutex;
  seal_summary summary;
};

breaches& all_breaches() {
  static detail::never_destroyed<breaches> all;
  return *all;
}

std::string thread_name() {
  char name[64] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return fmt::format("{} ({})", name, static_cast<long>(::syscall(SYS_gettid)));
}

std::vector<std::string> present_stack() {
  std::vector<std::string> lines;
#if defined(LIBTUNE_HAS_BACKTRACE)
  std::array<void*, 24> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  const std::unique_ptr<char*, void (*)(void*)> texts(::backtrace_symbols(frames.data(), count),
                                                      std::free);
  if (texts == nullptr) return lines;
  const std::span<char*> all(texts.get(), static_cast<std::size_t>(count));
  for (const char* text : all.subspan(std::min<std::size_t>(2, all.size())))
    lines.emplace_back(text);
#endif
  return lines;
}

// Taking a stack is slow, and is done only for the breaches that are kept.
void count_breach(sealed_action action, const std::string& what) {
  breaches& all = all_breaches();
  const std::lock_guard lock(all.mutex);
  ++all.summary.counts[static_cast<std::size_t>(action)];
  if (all.summary.first.size() == seal_summary::most_kept) return;
  all.summary.first.push_back({action, what, thread_name(), present_stack()});
}

void forget_breaches() {
  const std::lock_guard lock(all_breaches().mutex);
  all_breaches().summary = {};
}

}  // namespace

constinit std::atomic<int> detail::seals{0};

const char* sealed_action_name(sealed_action action) noexcept {
  constexpr std::array names{"tune",    "compile",  "load",          "allocate",
                             "release", "database", "program_cache", "process"};
  static_assert(names.size() == sealed_actions);
  return names[static_cast<std::size_t>(action)];
}

std::uint64_t seal_summary::total() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void seal(seal_options options) {
  // The first stack trace loads what it needs. That happens here, not at the first breach.
  static_cast<void>(present_stack());
  const std::lock_guard lock(seal_mutex());
  if (detail::seals == 0) forget_breaches();
  if (options.scope == seal_scope::this_thread) return seal_this_thread(options.mode);
  if (program_seal.exchange(static_cast<int>(options.mode)) < 0) ++detail::seals;
}

void unseal(seal_scope scope) noexcept {
  if (scope == seal_scope::this_thread) return set_own_seal(std::nullopt);
  if (program_seal.exchange(-1) >= 0) --detail::seals;
}

bool is_sealed() noexcept { return present_seal().has_value(); }

seal_summary seal_report() {
  const std::lock_guard lock(all_breaches().mutex);
  return all_breaches().summary;
}

unsealed_section::unsealed_section() noexcept { ++sections; }
unsealed_section::~unsealed_section() { --sections; }

void detail::meet_seal(sealed_action action, const seal_text& text) {
  const std::optional<seal_mode> mode = present_seal();
  if (!mode) return;
  const std::string what = text.make(text.maker);
  count_breach(action, what);
  if (*mode == seal_mode::counts) return;
  throw seal_broken_error(
      action,
      fmt::format("{}: refused, for this thread is sealed (tune::seal); construct templates "
                  "and allocate before seal(), or do it on a thread that does not enqueue, "
                  "in a tune::unsealed_section",
                  what));
}

void detail::meet_seal_at_end(sealed_action action, const seal_text& text) noexcept {
  try {
    if (present_seal()) count_breach(action, text.make(text.maker));
  } catch (const std::exception&) {  // out of memory
    return;
  }
}

}  // namespace tune
