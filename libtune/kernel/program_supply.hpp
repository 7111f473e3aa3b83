// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {

/// A program that was asked for and is not there yet.
struct wanted_program {
  tune::context context;
  program_source source;             ///< complete, preamble and macros included
  std::string digest;                ///< its program_digest
  std::vector<nd_range> launches{};  ///< how its kernels will be launched, as far as is known
};

/// What became of a program that was compiled ahead.
struct supplied_program {
  enum class status : std::uint8_t {
    made,
    refused,    ///< it does not compile
    crashed,    ///< the compiler crashed, or ran out of memory
    timed_out,  ///< the compiler was stopped after it had taken too long
    left_over   ///< nobody could make it: it is to be compiled where it is asked for
  };

  status what = status::left_over;
  std::vector<std::byte> binary{};  ///< of one that was made
  std::string text{};               ///< the compiler's log if it was refused, else what happened
};

/// Programs that were compiled ahead of their use. While a program_supply::use lives,
/// tune::compile on this thread takes programs from the supply; what the supply lacks leaves the
/// author's code by an exception of a type of its own, so that it can be compiled elsewhere and the
/// code be called again. Programs whose digest is not known, because they include files, are
/// compiled on the spot.
///
/// It is for one thread.
class program_supply {
 public:
  void add(std::string digest, supplied_program made) {
    made_.insert_or_assign(std::move(digest), std::move(made));
  }
  bool empty() const noexcept { return made_.empty(); }

  /// The lifetime of one call of the author's code. Of several on one thread the latest counts.
  class [[nodiscard]] use {
   public:
    /// @param supply  outlives this
    explicit use(const program_supply& supply) noexcept;
    ~use();
    use(const use&) = delete;
    use& operator=(const use&) = delete;

    /// The first program that was asked for and was not there. If there is one, whatever the
    /// author's code returned or threw means nothing.
    std::optional<wanted_program> take_wanted() noexcept;
    /// How often a program was asked for that was there.
    int found() const noexcept { return found_; }
    /// What had become of the program that was asked for last.
    supplied_program::status last() const noexcept { return last_; }

   private:
    friend class program_supply;

    const program_supply& supply_;
    std::optional<wanted_program> wanted_;
    int found_ = 0;
    supplied_program::status last_ = supplied_program::status::left_over;
    use* outer_;
  };

  /// The lifetime of something within the author's code that compiles on its own account: until its
  /// end the thread uses no supply.
  class [[nodiscard]] none {
   public:
    none() noexcept;
    ~none();
    none(const none&) = delete;
    none& operator=(const none&) = delete;

   private:
    use* outer_;
  };

  /// The program from the supply that this thread uses; empty if it uses none, or the program has
  /// to be compiled on the spot.
  /// @throws build_error if the supply knows that it cannot be compiled, and program_is_wanted
  static std::optional<program> find(const context& context, const program_source& source);

 private:
  std::map<std::string, supplied_program, std::less<>> made_;
};

namespace detail {
/// Leaves the author's code. No std::exception, so that code which handles errors lets it pass.
struct program_is_wanted {};
}  // namespace detail

}  // namespace tune
