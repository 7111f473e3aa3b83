// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/awaited_programs.hpp"

#include <fmt/format.h>
#include <utility>

#include "libtune/base/log.hpp"

namespace tune {

const prebuilt_program& awaited_programs::add(std::string digest, prebuilt_program made) {
  wanted_.reset();
  return ready_.insert_or_assign(std::move(digest), std::move(made)).first->second;
}

void awaited_programs::want(wanted_program missing, int found) {
  is_given_up_ = !ready_.empty() && found <= found_;
  found_ = found;
  if (!is_given_up_) {
    wanted_ = std::move(missing);
    return;
  }
  warn_once(fmt::format(
      "the text of '{}' differs each time that a configuration is generated, so it is compiled in "
      "this process, not by workers, and its binaries are not reused; let it depend on key and "
      "tuning alone",
      missing.source.name));
  wanted_.reset();
}

void awaited_programs::give_up() noexcept {
  ready_ = {};
  wanted_.reset();
  is_given_up_ = true;
}

}  // namespace tune
