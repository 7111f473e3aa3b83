// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console.hpp"
#include "libtune/console/report_follower.hpp"
#include "libtune/tune/engine/doors.hpp"

extern "C" {
const bool libtune_opens_console = [] {
  tune::detail::open_doors().search_begins = tune::detail::follow_in_report;
  return true;
}();
}
