// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/gate_of_parent.hpp"
#include "libtune/extra/behind.hpp"
#include "libtune/extra/behind/page_gate.hpp"
#include "libtune/extra/behind/tuned_behind.hpp"
#include "libtune/tune/engine/doors.hpp"

extern "C" {
const bool libtune_opens_behind = [] {
  tune::detail::open_doors().tunes_later = [](const tune::tuned_key& key, bool has_nearest) {
    return tune::detail::request_tuning_behind(key, has_nearest);
  };
  tune::detail::gate_of_parent() = tune::detail::find_gate_of_parent;
  return true;
}();
}
