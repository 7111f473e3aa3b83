// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The information that tune::compile needs about the search that calls an author's function.
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

/// Programs that do not compile, by watched_digest, with the compiler's message.
using known_build_failures = std::map<std::string, std::string, std::less<>>;

/// A requested program that is not there yet.
struct wanted_program {
  tune::context context;
  program_source source;             ///< complete, including preamble and macros
  std::string digest;                ///< its program_digest
  std::vector<nd_range> launches{};  ///< the declared launches of its kernels, if any
};

/// The result of compiling a program ahead of its use.
struct prebuilt_program {
  enum class status : std::uint8_t {
    made,
    refused,     ///< it does not compile
    crashed,     ///< the compiler crashed, or ran out of memory
    timed_out,   ///< the compiler was stopped after it had taken too long
    unavailable  ///< no worker could compile it: it is compiled on request
  };

  status what = status::unavailable;
  std::vector<std::byte> binary{};  ///< if it was made
  std::string text{};               ///< the compiler's log if it was refused, else a description
};

/// Prebuilt programs, by program_digest.
using prebuilt_programs = std::map<std::string, prebuilt_program, std::less<>>;

/// Programs that searches have made and still hold, by a text of their input. If one is requested
/// again, for example at another size, it is there at once. Used by one thread.
class loaded_programs {
 public:
  struct entry {
    program made;
    std::string digest;  ///< as in compile_scope::programs
  };

  /// Returns null if there is no such program. @param what  everything that it depends on, as one
  /// text
  const entry* find(const std::string& what) const {
    const auto found = all_.find(what);
    return found == all_.end() ? nullptr : &found->second;
  }
  /// Keeps a program, unless there are too many.
  void add(std::string what, entry made) {
    if (all_.size() < most) all_.emplace(std::move(what), std::move(made));
  }

 private:
  static constexpr std::size_t most = 2048;

  std::unordered_map<std::string, entry> all_;
};

/// Rules for the programs that an author's function compiles, and a record of them. A search makes
/// one for each call of the function; it applies to tune::compile on its thread, until its end. If
/// there are several on one thread, only the latest applies, except that keeps_no_binaries of an
/// outer one stays in force. It does not see programs that are compiled without tune::compile, or
/// on another thread.
///
/// The scope is ambient (one thread-local pointer, the only one of this room), because an author
/// calls tune::compile with a context that may be any copy of the application's own, which other
/// threads use at the same time: no argument of that call belongs to the search.
class [[nodiscard]] compile_scope {
 public:
  struct rules {
    /// Programs to refuse with the compiler's message; may be null. Outlives the scope.
    const known_build_failures* known_failures = nullptr;
    /// The programs that were compiled ahead. If another one is requested, the exception
    /// program_is_wanted leaves the author's code; the search then compiles that program and calls
    /// the code again. Null: all programs are compiled immediately. Outlives the scope.
    const prebuilt_programs* prebuilt = nullptr;
    /// Called for a program that is not among these before the author's code is left; returns null
    /// if it has none either. The result outlives the scope. May be empty.
    std::function<const prebuilt_program*(const wanted_program&)> find_missing{};
    /// Programs that are kept between scopes: they are looked up here first, and new ones are
    /// added. May be null. Outlives the scope.
    loaded_programs* loaded = nullptr;
    /// Refuses every program, to find out which one is compiled first.
    bool refuses_all = false;
    /// Compiles each program with unknown files once before it is noted, so that a program with
    /// included files is never noted as unknown if its compiler reports them.
    bool learns_files = false;
    /// Adds no binaries to the cache of programs: requesting one from a driver can cost as much as
    /// compiling, and only one of the programs that a search compiles in this process will be used
    /// again.
    bool keeps_no_binaries = false;
    /// Called on this thread with true before a program is compiled or looked up in the cache, and
    /// with false after that. Must not throw.
    std::function<void(bool begins)> listener{};
  };

  /// The entry of programs() for a program with included files while these are unknown, and the
  /// first character of its digest when they are known.
  static constexpr const char* unknown_program = "?";

  compile_scope() : compile_scope(rules()) {}
  explicit compile_scope(rules given);
  ~compile_scope();
  compile_scope(const compile_scope&) = delete;
  compile_scope& operator=(const compile_scope&) = delete;

  /// The scope of this thread; may be null.
  static compile_scope* current() noexcept;

  /// The digests of the requested programs, in order (see watched_digest).
  const std::vector<std::string>& programs() const noexcept { return programs_; }
  /// The programs that were made, in order; launches of their kernels are recorded.
  std::vector<program> take_made() noexcept { return std::exchange(made_, {}); }
  /// True if the last requested program was refused because of a known failure.
  bool refused_known() const noexcept { return refused_known_; }
  bool keeps_no_binaries() const noexcept { return rules_.keeps_no_binaries; }

  /// The first requested program that is not prebuilt. If there is one, the result and the
  /// exception of the author's code are meaningless.
  std::optional<wanted_program> take_wanted() noexcept {
    return std::exchange(wanted_, std::nullopt);
  }
  /// Returns the number of requests that rules::prebuilt or rules::loaded satisfied.
  int found() const noexcept { return found_; }
  /// The status of the last requested prebuilt program.
  prebuilt_program::status last_status() const noexcept { return last_status_; }

  // For tune::compile.

  bool learns_files() const noexcept { return rules_.learns_files; }
  /// May be null.
  loaded_programs* loaded() const noexcept { return rules_.refuses_all ? nullptr : rules_.loaded; }
  /// Notes a program that is taken from loaded().
  void take(const loaded_programs::entry& kept) {
    refused_known_ = false;
    ++found_;
    programs_.push_back(kept.digest);
    made_.push_back(kept.made);
  }
  /// Notes a program that is about to be compiled.
  /// @throws build_error if it is refused; for a known failure, with the compiler's message
  void note(const context& context, const program_source& source);
  /// True if the last noted program may include files; for others its digest is program_digest.
  bool last_includes() const { return programs_.back().starts_with(unknown_program); }
  /// Notes the last noted program again after it has been compiled.
  void note_compiled(const context& context, const program_source& source);
  void keep(const program& made);
  /// Returns the prebuilt program; empty if it has to be compiled now.
  /// @throws build_error if it does not compile, compiler_lost_error, program_is_wanted
  std::optional<program> find_prebuilt(const context& context, const program_source& source);
  /// Calls the listener, if any.
  void announce(bool begins) const {
    if (rules_.listener) rules_.listener(begins);
  }

 private:
  const prebuilt_program& prebuilt(const context& context, const program_source& source);
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
/// Leaves the author's code. Not derived from std::exception, so that error handlers do not catch
/// it.
struct program_is_wanted {};
}  // namespace detail

}  // namespace tune
