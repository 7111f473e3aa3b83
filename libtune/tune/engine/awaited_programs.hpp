// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "libtune/kernel/compile_scope.hpp"

namespace tune {

/// The programs that workers compile for a configuration: the prebuilt ones, and the missing one.
class awaited_programs {
 public:
  const prebuilt_programs& ready() const noexcept { return ready_; }
  bool has_wanted() const noexcept { return wanted_.has_value(); }
  const wanted_program& wanted() const { return *wanted_; }
  /// Adds the missing program.
  void add(std::string digest, prebuilt_program made);
  /// Adds a program that was found before it was missed; valid as long as ready().
  const prebuilt_program& add_found(std::string digest, prebuilt_program made) {
    return ready_.insert_or_assign(std::move(digest), std::move(made)).first->second;
  }

  /// Sets the missing program of a generation. Gives up, with a warning, if the generation got no
  /// further than the one before, because another text each time would never end.
  /// @param found  the number of prebuilt programs that the generation has used
  void want(wanted_program missing, int found);
  /// Releases all programs.
  void give_up() noexcept;
  /// True if the configuration is compiled on the spot from now on.
  bool is_given_up() const noexcept { return is_given_up_; }

 private:
  prebuilt_programs ready_;
  std::optional<wanted_program> wanted_;
  int found_ = 0;  // in the last generation
  bool is_given_up_ = false;
};

}  // namespace tune
