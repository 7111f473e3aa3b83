// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/shared.hpp"
#include "libtune/extra/shared/shared_results.hpp"
#include "libtune/tune/engine/doors.hpp"

extern "C" {
const bool libtune_opens_shared = [] {
  tune::detail::open_doors().find_source =
      [](const tune::tuning_settings& settings) -> std::shared_ptr<tune::detail::result_source> {
    return tune::shared_results::of(settings);
  };
  return true;
}();
}
