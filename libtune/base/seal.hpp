// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Proof that a running pipeline only enqueues. Slow or unbounded actions have a door: calls of
// autotuners, compiling, making programs, kernels, queues and contexts, allocating and releasing
// device and pinned memory, the tuning database, the cache of programs, and starting processes. A
// sealed thread that comes to a door is stopped, or counted.
//
//   auto pipeline = make_pipeline(context);  // tunes, compiles and allocates
//   pipeline.run();                          // drivers load much with the first launch
//   tune::seal();
//   while (running) pipeline.run();          // enqueues, or throws
//
// A seal holds for every thread of the program except those of libtune, so that a forgotten thread
// is found. A control thread that has to allocate or tune while the pipeline runs holds an
// unsealed_section, for the time of a reconfiguration or for all its life. A library in another
// program seals its own thread alone: seal({.scope = seal_scope::this_thread}).
//
// Launches, fills, copies, events, maps, replayed graphs and parts of buffers have no door, nor
// have allocators that serve from their own memory. While nothing is sealed a door costs one load;
// enqueueing has none.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"

namespace tune {

/// The consequence for a sealed thread that comes to a door.
enum class seal_mode : std::uint8_t {
  throws,  ///< the door throws seal_broken_error
  counts,  ///< the action takes place, and seal_report() counts it
};

/// The threads that a seal holds for.
enum class seal_scope : std::uint8_t {
  program,      ///< all threads, those that begin later too
  this_thread,  ///< the calling thread, as long as it lives
};

/// The settings of seal().
struct seal_options {
  seal_mode mode = seal_mode::throws;      ///< throw at a door, or count only
  seal_scope scope = seal_scope::program;  ///< all threads, or the calling one
};

/// The actions that a seal forbids.
enum class sealed_action : std::uint8_t {
  tune,      ///< an autotuner was called, with or without a stored result
  compile,   ///< a kernel's text was to be compiled, or looked for in the cache
  load,      ///< a program or kernel was to be made on the device
  allocate,  ///< device or pinned memory, or an object that has some: a queue, a context, a graph
  release,   ///< such memory was released, for which drivers wait. Only ever counted
  database,  ///< a tuning database was to be read or written
  program_cache,  ///< the files of compiled programs were to be read or written
  process,        ///< a process was to be started
};
/// The number of enumerators of sealed_action.
inline constexpr std::size_t sealed_actions = 8;

/// The action in words: "tune", "program_cache".
const char* sealed_action_name(sealed_action action) noexcept;

/// A sealed thread has asked for a forbidden action, which has not taken place.
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

/// One breach of a seal, prevented or not.
struct seal_breach {
  sealed_action action{};          ///< the kind of door
  std::string what;                ///< the request, and its device
  std::string thread;              ///< its name and its number in the system
  std::vector<std::string> stack;  ///< from the door outwards, as addr2line takes it; may be empty
};

/// The breaches of sealed threads since the first seal. One call counts at each of its doors: that
/// of an autotuner as tune, then as the database, compilations and allocations of its search.
struct seal_summary {
  /// The most breaches that first describes.
  static constexpr std::size_t most_kept = 16;

  std::array<std::uint64_t, sealed_actions> counts{};  ///< breaches of each sealed_action
  std::vector<seal_breach> first;                      ///< the first most_kept of them

  /// The number of breaches of one action.
  std::uint64_t count(sealed_action action) const noexcept {
    return counts[static_cast<std::size_t>(action)];
  }
  /// The number of breaches of all actions together.
  std::uint64_t total() const noexcept;
};

/// Seals the program or the calling thread, in place of an earlier seal of the same scope; a
/// thread's own counts for it more than the program's. Where nothing was sealed before, the report
/// begins anew. Thread-safe.
void seal(seal_options options = {});

/// Ends a seal. The report keeps its breaches. Thread-safe.
void unseal(seal_scope scope = seal_scope::program) noexcept;

/// True if the calling thread is sealed now.
bool is_sealed() noexcept;

/// All breaches, those that threw included. Thread-safe.
seal_summary seal_report();

/// While one lives, the thread that made it is not sealed. May be nested. It has to end on that
/// thread.
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

/// Called by every door first.
/// @param text  makes the description of the request, as in "compile 'fill.kernel' for device 'GPU
/// One'"
/// @throws seal_broken_error if the thread is sealed so
template <class Text>
void check_seal(sealed_action action, const Text& text) {
  if (seals.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  meet_seal(action, refer_to(text));
}

/// The same for functions that cannot throw, such as destructors: counted in either mode.
template <class Text>
void note_seal(sealed_action action, const Text& text) noexcept {
  if (seals.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  meet_seal_at_end(action, refer_to(text));
}

}  // namespace detail
}  // namespace tune
