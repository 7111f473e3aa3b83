// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ready/readiness_report.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/word_table.hpp"

namespace tune {
namespace {

double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::string_view key_readiness_name(key_readiness state) noexcept {
  constexpr detail::word_table<key_readiness, 5> words{
      {"stored", "tuned", "partly tuned", "not tuned", "failed"}};
  return words.word(state);
}

double readiness_report::cost() const noexcept {
  double sum = 0;
  for (const ready_key& each : keys) sum += each.cost;
  return sum;
}

std::string to_string(const readiness_report& report) {
  std::string text =
      fmt::format("{:>7}  {:<12}  {:>8}  {:>8}  key\n", "share", "state", "search", "may cost");
  for (const ready_key& each : report.keys) {
    text += fmt::format("{:>5.1f} %  {:<12}  {:>6.2f} s  {:>6.1f} %  {} {}{}{}\n", 100 * each.share,
                        key_readiness_name(each.state), in_seconds(each.spent), 100 * each.cost,
                        each.function, to_string(each.arguments),
                        each.is_tuned_behind ? "; tuned behind" : "",
                        each.reason.empty() ? "" : ": " + each.reason);
  }
  const auto count = [&](key_readiness state) {
    return std::ranges::count(report.keys, state, &ready_key::state);
  };
  return text + fmt::format(
                    "Ready after {:.1f} s: {} of {} keys are tuned, {} partly; more tuning "
                    "may save {:.1f} % of a frame\n",
                    in_seconds(report.elapsed),
                    count(key_readiness::stored) + count(key_readiness::tuned), report.keys.size(),
                    count(key_readiness::partly), 100 * report.cost());
}

}  // namespace tune
