// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that tune::compile has to know of the search that calls an author's function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {

/// Programs that are known not to compile, by watched_digest, with the message of the compiler.
using known_build_failures = std::map<std::string, std::string, std::less<>>;

/// A program that was asked for and is not there yet.
struct wanted_program {
  tune::context context;
  program_source source;             ///< complete, preamble and macros included
  std::string digest;                ///< its program_digest
  std::vector<nd_range> launches{};  ///< the declared launches of its kernels, if there are any
};

/// The result of compiling a program ahead of its use.
struct prebuilt_program {
  enum class status : std::uint8_t {
    made,
    refused,     ///< it does not compile
    crashed,     ///< the compiler crashed, or ran out of memory
    timed_out,   ///< the compiler was stopped after it had taken too long
    unavailable  ///< no worker could compile it: it is compiled where it is asked for
  };

  status what = status::unavailable;
  std::vector<std::byte> binary{};  ///< of one that was made
  std::string text{};               ///< the compiler's log if it was refused, else what happened
};

/// Prebuilt programs by program_digest.
using prebuilt_programs = std::map<std::string, prebuilt_program, std::less<>>;

/// Programs that searches have made and still hold, by what was compiled: where one is asked for
/// again, at another size say, it is there at once. Used by one thread.
class loaded_programs {
 public:
  struct entry {
    program made;
    std::string digest;  ///< as compile_scope::programs has it
  };

  /// Returns null if there is no such program. @param what  all that it depends on, in one text
  const entry* find(const std::string& what) const {
    const auto found = all_.find(what);
    return found == all_.end() ? nullptr : &found->second;
  }
  /// Keeps one, unless there are too many.
  void add(std::string what, entry made) {
    if (all_.size() < most) all_.emplace(std::move(what), std::move(made));
  }

 private:
  static constexpr std::size_t most = 2048;

  std::unordered_map<std::string, entry> all_;
};

/// Rules for the programs that an author's function compiles, and a record of them. A search makes
/// one around each call of the function; it holds for tune::compile on the thread that made it,
/// until its end. Of several on one thread the latest holds alone, except that keeps_no_binaries of
/// an outer one stays in force. What is compiled past tune::compile, or on another thread, it does
/// not see.
///
/// The scope is ambient (one thread-local pointer, the only one of kernel) because an author calls
/// tune::compile with a context that may be any copy of the application's own, which other threads
/// use at the same time: no argument of that call belongs to the search.
class [[nodiscard]] compile_scope {
 public:
  struct rules {
    /// Refused with the message of the compiler; null: none. Outlives the scope.
    const known_build_failures* known_failures = nullptr;
    /// The programs that were compiled ahead. If another one is requested, the exception
    /// program_is_wanted leaves the author's code, and the search has that program compiled and
    /// calls the code again. Null: all programs are compiled on the spot. Outlives the scope.
    const prebuilt_programs* prebuilt = nullptr;
    /// The programs that are kept from one scope to the next: they are taken from here first, and
    /// those that are made are added. Null: none are kept. Outlives the scope.
    loaded_programs* loaded = nullptr;
    /// Refuses every program, to learn which one is compiled first.
    bool refuses_all = false;
    /// Compiles each program once whose files are not known before it is noted, so that a program
    /// that includes files is never noted as unknown where its compiler tells them.
    bool learns_files = false;
    /// Adds no binaries to the cache of programs: asking a driver for one can cost as much as
    /// compiling it, and of those that a search compiles in this process one will be used again.
    bool keeps_no_binaries = false;
    /// Called on this thread with true before a program is compiled or looked for in the cache, and
    /// with false after that. It does not throw.
    std::function<void(bool begins)> listener{};
  };

  /// The entry of programs() for a program that includes files, as long as these are not known. The
  /// digest of one whose files are known begins with it.
  static constexpr const char* unknown_program = "?";

  compile_scope() : compile_scope(rules()) {}
  explicit compile_scope(rules given);
  ~compile_scope();
  compile_scope(const compile_scope&) = delete;
  compile_scope& operator=(const compile_scope&) = delete;

  /// The scope of this thread; null if there is none.
  static compile_scope* current() noexcept;

  /// The digests of the programs that were asked for, in order (see watched_digest).
  const std::vector<std::string>& programs() const noexcept { return programs_; }
  /// The programs that were made, in order; launches of their kernels are recorded.
  std::vector<program> take_made() noexcept { return std::exchange(made_, {}); }
  /// True if the program asked for last was refused because it is known not to compile.
  bool refused_known() const noexcept { return refused_known_; }
  bool keeps_no_binaries() const noexcept { return rules_.keeps_no_binaries; }

  /// The first program that was asked for and is not prebuilt. If there is one, the result and the
  /// exception of the author's code mean nothing.
  std::optional<wanted_program> take_wanted() noexcept {
    return std::exchange(wanted_, std::nullopt);
  }
  /// Returns the number of requests whose program was among rules::prebuilt or rules::loaded.
  int found() const noexcept { return found_; }
  /// The status of the prebuilt program that was asked for last.
  prebuilt_program::status last_status() const noexcept { return last_status_; }

  // For tune::compile.

  bool learns_files() const noexcept { return rules_.learns_files; }
  /// Null if no programs are kept.
  loaded_programs* loaded() const noexcept { return rules_.refuses_all ? nullptr : rules_.loaded; }
  /// Notes a program that is taken from there.
  void take(const loaded_programs::entry& kept) {
    refused_known_ = false;
    ++found_;
    programs_.push_back(kept.digest);
    made_.push_back(kept.made);
  }
  /// Notes a program that is about to be compiled.
  /// @throws build_error if it is refused; for a known failure, with the compiler's message
  void note(const context& context, const program_source& source);
  /// Notes again, now that it has been compiled, the program that was noted last.
  void note_compiled(const context& context, const program_source& source);
  void keep(const program& made);
  /// The prebuilt program; empty if it is to be compiled on the spot.
  /// @throws build_error if it does not compile, compiler_lost_error, program_is_wanted
  std::optional<program> find_prebuilt(const context& context, const program_source& source);
  /// Calls the listener, if there is one.
  void announce(bool begins) const {
    if (rules_.listener) rules_.listener(begins);
  }

 private:
  program load(const context& context, const program_source& source,
               const prebuilt_program& prebuilt) const;

  rules rules_;
  compile_scope* outer_;
  std::vector<std::string> programs_;
  std::vector<program> made_;
  bool refused_known_ = false;
  std::optional<wanted_program> wanted_;
  int found_ = 0;
  prebuilt_program::status last_status_ = prebuilt_program::status::unavailable;
};

namespace detail {
/// Leaves the author's code. No std::exception, so that code which handles errors lets it pass.
struct program_is_wanted {};
}  // namespace detail

}  // namespace tune
