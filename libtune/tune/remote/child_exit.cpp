// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/child_exit.hpp"

#include <fmt/format.h>
#include <fstream>
#include <utility>

#include "libtune/tune/remote/tuner_service.hpp"

namespace tune::detail {
namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::optional<std::uint64_t> count_memory_kills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  for (std::uint64_t count = 0; counters >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

classification classify_overtime(const watchdog& watched, std::chrono::nanoseconds elapsed) {
  const search_step& step = *watched.step();
  return {outcome::timed_out,
          fmt::format("its process was stopped after {:.3g} s during {}; the limit was {:.3g} s "
                      "(LIBTUNE_TRIAL_TIME, tuning_options::watchdog)",
                      seconds(elapsed), step_name(step.kind), seconds(watched.limit()))};
}

bool may_be_from_outside(const child_process::end& end) noexcept {
  return !end.still_ran && (end.from_outside || !end.is_known);
}

std::optional<classification> classify_exit(const search_step& step, const child_process::end& end,
                                            bool memory_ran_out, bool ended_before) {
  const auto during = step_name(step.kind);
  if (end.still_ran || end.exit_status == lost_link_status) {
    return classification{
        outcome::crashed,
        fmt::format("it closed or replaced the descriptors of its process during {}, "
                    "that of libtune among them",
                    during)};
  }
  if (!may_be_from_outside(end)) {
    return classification{outcome::crashed,
                          fmt::format("its process ended during {}: {}", during, end.text)};
  }
  if (memory_ran_out && (end.by_kill || !end.is_known)) {
    return classification{
        outcome::out_of_memory,
        fmt::format("the system killed its process during {}, for memory ran out", during)};
  }
  if (!ended_before) return std::nullopt;
  if (end.by_kill) {
    return classification{
        outcome::out_of_memory,
        fmt::format("its process was killed twice during {}, as the system does when memory "
                    "runs out",
                    during)};
  }
  return classification{outcome::crashed,
                        fmt::format("its process ended twice during {}: {}", during, end.text)};
}

classification classify_invalid_message(const search_step& step, const std::string& what) {
  return {outcome::crashed,
          fmt::format("it wrote to the descriptors of its process during {}, that of libtune "
                      "among them ({})",
                      step_name(step.kind), what)};
}

classification classify_stopped(const search_step& step) {
  return {outcome::timed_out,
          fmt::format("its process was stopped by a signal during {}, twice, and did not go on",
                      step_name(step.kind))};
}

trial lost_trial(const search_step& step, classification found, std::chrono::nanoseconds elapsed) {
  trial lost;
  lost.index = step.index;
  lost.configuration = step.configuration;
  lost.outcome = found.outcome;
  lost.reason = std::move(found.reason);
  lost.elapsed = elapsed;
  return lost;
}

}  // namespace tune::detail
