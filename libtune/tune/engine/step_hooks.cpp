// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/step_hooks.hpp"

namespace tune {

std::string_view step_name(step_kind kind) noexcept {
  switch (kind) {
    case step_kind::generate: return "its preparation";
    case step_kind::first_run: return "its first run";
    case step_kind::run: return "a run";
    case step_kind::samples: break;
  }
  return "timed runs";
}

}  // namespace tune
