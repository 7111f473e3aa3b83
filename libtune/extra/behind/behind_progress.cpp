// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/behind_progress.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "libtune/base/plain_text.hpp"

namespace tune::detail {
namespace {

double ms(std::chrono::nanoseconds time) { return 1e-6 * static_cast<double>(time.count()); }

std::string text_of(const interval_summary& of) {
  return of.count == 0 ? "none"
                       : fmt::format("{} of at most {} ms, p99.9 {} ms", of.count,
                                     rounded_text(ms(of.longest)), rounded_text(ms(of.p999)));
}

behind_times since(const behind_times& now, const behind_times& before) {
  return {.preparing = now.preparing - before.preparing,
          .checking = now.checking - before.checking,
          .measuring = now.measuring - before.measuring,
          .repeating = now.repeating - before.repeating,
          .pausing = now.pausing - before.pausing,
          .slowing = now.slowing - before.slowing,
          .held = now.held - before.held,
          .other = std::max(std::chrono::nanoseconds(0), now.other - before.other)};
}

}  // namespace

std::chrono::nanoseconds total_of(const behind_times& of) {
  return of.preparing + of.checking + of.measuring + of.repeating + of.pausing + of.slowing +
         of.held + of.other;
}

std::string behind_progress::text(const behind_summary& now) const {
  const std::uint64_t left_out = now.deferred - before_.deferred;
  return fmt::format(
      "{:.1f} s, with {} s of its device in {} slices, {} of them repeated; where the time "
      "went: {}; intervals alone: {}; beside it: {}{}",
      1e-3 * ms(std::chrono::steady_clock::now() - begin_),
      rounded_text(1e-3 * ms(now.used - before_.used)), now.slices - before_.slices,
      now.repeated - before_.repeated, to_string(since(now.spent, before_.spent)),
      text_of(now.alone), text_of(now.beside),
      left_out > 0 ? fmt::format("; {} configurations are too long for a slice and have been left "
                                 "to its idle windows",
                                 left_out)
                   : "");
}

}  // namespace tune::detail
