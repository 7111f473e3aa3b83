// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "libtune/kernel/compile_scope.hpp"

namespace tune {

/// The programs that workers compile for a configuration: the prebuilt ones, and the missing one.
class awaited_programs {
 public:
  const prebuilt_programs& ready() const noexcept { return ready_; }
  bool has_wanted() const noexcept { return wanted_.has_value(); }
  const wanted_program& wanted() const { return *wanted_; }
  /// Adds the missing program. The result is valid until it is added again or give_up.
  const prebuilt_program& add(std::string digest, prebuilt_program made);

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
