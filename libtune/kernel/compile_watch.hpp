// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libtune/device/kernel.hpp"

namespace tune {

/// Programs that are known not to compile, by program_digest, with the message of then.
using known_build_failures = std::map<std::string, std::string, std::less<>>;

/// While one lives, notes which programs tune::compile is asked for on this thread, and refuses
/// those that are known not to compile. Of several on one thread the latest counts. What is
/// compiled past tune::compile, or on another thread, it does not see.
class [[nodiscard]] compile_watch {
 public:
  /// Stands for a program whose digest is not known, see program_digest.
  static constexpr const char* unknown_program = "?";

  /// @param known  outlives this; null: nothing is known
  explicit compile_watch(const known_build_failures* known = nullptr) noexcept;
  ~compile_watch();
  compile_watch(const compile_watch&) = delete;
  compile_watch& operator=(const compile_watch&) = delete;

  /// Refuses every program, so that one learns which would be compiled first.
  void refuse_all() noexcept { refuse_all_ = true; }

  /// Has this called, on this thread, with true before a program is compiled or looked for in the
  /// cache, and with false after that. It may not throw.
  void announce_to(std::function<void(bool begins)> listener) { listener_ = std::move(listener); }

  /// The digests of the programs that were asked for, in order.
  const std::vector<std::string>& programs() const noexcept { return programs_; }
  /// Whether the program asked for last was refused because it is known not to compile.
  bool refused_known() const noexcept { return refused_known_; }

  /// Tells the watch of this thread, if there is one, of a program that is about to be compiled.
  /// @throws build_error if it is to be refused; for one that is known, with the message of then
  static void meet(const program_source& source);

  /// While one lives a program is compiled on this thread.
  class [[nodiscard]] compiling {
   public:
    compiling();
    ~compiling();
    compiling(const compiling&) = delete;
    compiling& operator=(const compiling&) = delete;

   private:
    const compile_watch* watch_;
  };

 private:
  void note(const program_source& source);

  const known_build_failures* known_;
  compile_watch* outer_;
  std::function<void(bool begins)> listener_;
  std::vector<std::string> programs_;
  bool refuse_all_ = false;
  bool refused_known_ = false;
};

}  // namespace tune
