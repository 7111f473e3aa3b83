// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/kept_child.hpp"

#include <utility>

namespace tune::detail {

std::unique_ptr<tuner_child> kept_child::take(const tuner_program& program) {
  if (child_ && !(program_ == program)) child_.reset();
  return std::move(child_);
}

void kept_child::keep(const tuner_program& program, std::unique_ptr<tuner_child> idle) {
  program_ = program;
  child_ = std::move(idle);
}

}  // namespace tune::detail
