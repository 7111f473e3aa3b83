// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Proof that a running pipeline only enqueues. Slow or unbounded actions have a door, which checks
// for a seal: calls of autotuners, compiling, making programs, kernels, queues and contexts,
// allocating and releasing device and pinned memory, the tuning database, the cache of programs,
// and starting processes. At a door, a sealed thread gets an exception, or the action is counted.
//
//   auto pipeline = make_pipeline(context);  // tunes, compiles and allocates
//   pipeline.run();                          // drivers load much with the first launch
//   tune::seal();
//   while (running) pipeline.run();          // enqueues, or throws
//
// A seal holds for every thread of the program except libtune's own, so that it finds forgotten
// threads too. A control thread that allocates or tunes while the pipeline runs holds an
// unsealed_section, during a reconfiguration or for all its life. A library inside another program
// seals only its own thread: seal({.scope = seal_scope::this_thread}).
//
// There are no doors for launches, fills, copies, events, maps, replayed graphs and parts of
// buffers, nor for allocators that serve from their own memory. While no thread is sealed, a door
// costs one load; enqueueing costs nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"

namespace tune {

/// The effect of a door on a sealed thread.
enum class seal_mode : std::uint8_t {
  throws,  ///< the door throws seal_broken_error
  counts,  ///< the action takes place, and seal_report() counts it
};

/// The threads that a seal covers.
enum class seal_scope : std::uint8_t {
  program,      ///< all threads, later ones included
  this_thread,  ///< the calling thread, until it ends
};

/// The settings of seal().
struct seal_options {
  seal_mode mode = seal_mode::throws;      ///< throw at a door, or count only
  seal_scope scope = seal_scope::program;  ///< all threads, or the calling one
};

/// The actions that a seal forbids.
enum class sealed_action : std::uint8_t {
  tune,      ///< a call of an autotuner, with or without a stored result
  compile,   ///< compiling a kernel's text, or looking for it in the cache
  load,      ///< making a program or kernel on the device
  allocate,  ///< device or pinned memory, or an object that holds some: a queue, a context, a graph
  release,   ///< releasing such memory, for which drivers wait. Only ever counted
  database,  ///< reading or writing a tuning database
  program_cache,  ///< reading or writing the files of compiled programs
  process,        ///< starting a process
};
/// The number of enumerators of sealed_action.
inline constexpr std::size_t sealed_actions = 8;

/// The action in words: "tune", "program_cache".
const char* sealed_action_name(sealed_action action) noexcept;

/// A sealed thread requested a forbidden action. The action has not taken place.
class seal_broken_error : public error {
 public:
  /// @param action  the action that was refused
  /// @param text    the whole message
  seal_broken_error(sealed_action action, const std::string& text) : error(text), action_(action) {}

  /// The action that was refused.
  sealed_action action() const noexcept { return action_; }

 private:
  sealed_action action_;
};

/// One breach of a seal, whether prevented or only counted.
struct seal_breach {
  sealed_action action{};          ///< the kind of door
  std::string what;                ///< the requested action, and its device
  std::string thread;              ///< the thread's name and its number in the system
  std::vector<std::string> stack;  ///< from the door outwards, in the form that addr2line takes;
                                   ///< may be empty
};

/// The breaches of sealed threads since the first seal. One call may count at several doors: a call
/// of an autotuner counts as tune, and then as the database accesses, compilations and allocations
/// of its search.
struct seal_summary {
  /// The largest size of first.
  static constexpr std::size_t most_kept = 16;

  std::array<std::uint64_t, sealed_actions> counts{};  ///< breaches of each sealed_action
  std::vector<seal_breach> first;                      ///< the earliest breaches, at most most_kept

  /// The number of breaches of one action.
  std::uint64_t count(sealed_action action) const noexcept {
    return counts[static_cast<std::size_t>(action)];
  }
  /// The number of breaches of all actions together.
  std::uint64_t total() const noexcept;
};

/// Seals the program or the calling thread, and replaces an earlier seal of the same scope. A
/// thread's own seal takes precedence over the program's. If nothing was sealed before, the report
/// is reset. Thread-safe.
void seal(seal_options options = {});

/// Ends a seal. The report keeps its breaches. Thread-safe.
void unseal(seal_scope scope = seal_scope::program) noexcept;

/// True if the calling thread is sealed now.
bool is_sealed() noexcept;

/// All breaches, including those that threw. Thread-safe.
seal_summary seal_report();

/// Suspends the seal for the calling thread during its life. May be nested. Destroy it on the
/// thread that made it.
class [[nodiscard]] unsealed_section {
 public:
  unsealed_section() noexcept;
  ~unsealed_section();
  unsealed_section(const unsealed_section&) = delete;
  unsealed_section& operator=(const unsealed_section&) = delete;
};

namespace detail {

/// The number of seals.
extern std::atomic<int> seals;

/// The function that makes the text of a breach; not owned.
struct seal_text {
  const void* maker;
  std::string (*make)(const void* maker);
};
template <class Text>
seal_text refer_to(const Text& text) noexcept {
  return {&text,
          [](const void* maker) -> std::string { return (*static_cast<const Text*>(maker))(); }};
}

void meet_seal(sealed_action action, const seal_text& text);
void meet_seal_at_end(sealed_action action, const seal_text& text) noexcept;

/// Every door calls this first.
/// @param text  makes the description of the request, as in "compile 'fill.kernel' for device 'GPU
/// One'"
/// @throws seal_broken_error if the thread is sealed with seal_mode::throws
template <class Text>
void check_seal(sealed_action action, const Text& text) {
  if (seals.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  meet_seal(action, refer_to(text));
}

/// Like check_seal(), for functions that cannot throw, such as destructors: counts the breach in
/// either mode.
template <class Text>
void note_seal(sealed_action action, const Text& text) noexcept {
  if (seals.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  meet_seal_at_end(action, refer_to(text));
}

}  // namespace detail
}  // namespace tune
