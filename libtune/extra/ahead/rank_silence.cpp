// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/rank_silence.hpp"

#include <fmt/format.h>

#include "libtune/base/log.hpp"
#include "libtune/base/plain_text.hpp"

namespace tune::detail {

void silence_watch::look() {
  const auto now = rank_link::clock::now();
  // Nothing can be received while this process itself is suspended.
  const auto passed = std::min<rank_link::clock::duration>(now - looked_, longest_ / 10);
  looked_ = now;
  if (link_.received() != received_) {
    if (std::exchange(is_told_, false)) log(log_level::warning, name_ + " answers again");
    received_ = link_.received();
    silent_ = {};
    return;
  }
  silent_ += passed;
  const auto seconds = [](auto time) {
    return rounded_text(std::chrono::duration<double>(time).count());
  };
  if (silent_ >= longest_) {
    log(log_level::warning,
        fmt::format("{} has not answered for {} s and is given up, though its connection "
                    "stands. mpirun waits until its process ends: kill it, or let it go on, which "
                    "ends it too",
                    name_, seconds(longest_)));
    link_.send_at_once(fleet_farewell{});
    link_.close();
  } else if (silent_ >= longest_ / 3 && !std::exchange(is_told_, true)) {
    log(log_level::warning, fmt::format("{} has not answered for {} s; after {} s the "
                                        "others go on without it",
                                        name_, seconds(longest_ / 3), seconds(longest_)));
  }
}

}  // namespace tune::detail
