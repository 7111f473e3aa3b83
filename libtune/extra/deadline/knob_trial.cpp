// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/knob_trial.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tune::detail {
namespace {

constexpr std::size_t probation_block = 64;
// From this number of frames on, a candidate that shows no gain will hardly show one.
constexpr std::size_t enough_for_hope = 1024;

}  // namespace

void knob_trial::side::add(const served_frame& frame) {
  open.push_back(frame.latency);
  open_figures += frame.figure;
  figures += frame.figure;
  ++frames;
}

void knob_trial::side::close() {
  if (!open.empty()) blocks.add(open);
  open.clear();
  open_figures = 0;
}

void knob_trial::add(const served_frame& frame) {
  using server = served_frame::server;
  if (frame.on_probation) {
    if (frame.by != server::incumbent) return;
    probation_.add(frame);
    if (probation_.open.size() == probation_block) probation_.close();
    return;
  }
  if (frame.turn != turn_) {
    close_pair();
    turn_ = frame.turn;
  }
  if (frame.by == server::candidate) candidate_.add(frame);
  if (frame.by == server::incumbent) incumbent_.add(frame);
}

void knob_trial::close_pair() {
  if (has_figure() && !candidate_.open.empty() && !incumbent_.open.empty()) {
    const double ratio = candidate_.open_mean() / incumbent_.open_mean();
    if (std::isfinite(ratio) && ratio > 0) logarithms_.push_back(std::log(ratio));
  }
  candidate_.close();
  incumbent_.close();
}

knob_verdict knob_trial::judge(bool on_probation) {
  if (on_probation) {
    const bool ends = probation_.frames >= settings_.probation_frames;
    if (probation_.frames < next_probation_look_ && !ends) return knob_verdict::open;
    while (next_probation_look_ <= probation_.frames) next_probation_look_ *= 2;
    return judge_probation();
  }
  const bool ends = candidate_.frames >= settings_.trial_frames;
  if (candidate_.frames < next_look_ && !ends) return knob_verdict::open;
  while (next_look_ <= candidate_.frames) next_look_ *= 2;
  const knob_verdict found = judge_turns();
  return ends && found == knob_verdict::open ? knob_verdict::worse : found;
}

knob_verdict knob_trial::judge_turns() const {
  if (incumbent_.blocks.frames() == 0) return knob_verdict::open;
  const bounded_quantile before = incumbent_.blocks.quantile(goal_.quantile);
  const bounded_quantile after = candidate_.blocks.quantile(goal_.quantile);
  if (after.lower > before.upper) return knob_verdict::worse;
  if (has_figure()) return judge_figures();
  const bool gains = after.value <= (1 - settings_.least_gain) * before.value;
  if (gains && after.upper < before.lower) return knob_verdict::better;
  return gains || candidate_.frames < enough_for_hope ? knob_verdict::open : knob_verdict::worse;
}

// The mean of many pairs is normal.
knob_verdict knob_trial::judge_figures() const {
  constexpr std::size_t fewest = 24;
  constexpr double sure_of_gain = 4;
  constexpr double sure_of_loss = 2;
  if (logarithms_.size() < fewest) return knob_verdict::open;
  const auto n = static_cast<double>(logarithms_.size());
  double mean = 0;
  for (const double each : logarithms_) mean += each / n;
  double squares = 0;
  for (const double each : logarithms_) squares += (each - mean) * (each - mean);
  const double error = std::sqrt(squares / (n * (n - 1)));
  const double needed = std::log(1 - settings_.least_gain);
  if (mean <= needed && mean + sure_of_gain * error < 0) return knob_verdict::better;
  return mean - sure_of_loss * error > needed ? knob_verdict::worse : knob_verdict::open;
}

knob_verdict knob_trial::judge_probation() const {
  const bounded_quantile before = incumbent_.blocks.quantile(goal_.quantile);
  const bounded_quantile after = probation_.blocks.quantile(goal_.quantile);
  if (probation_.blocks.frames() > 0 && after.lower > before.upper) return knob_verdict::worse;
  if (probation_.frames < settings_.probation_frames) return knob_verdict::open;
  const bool is_worse =
      has_figure() ? probation_.mean() > incumbent_.mean() : after.value > before.value;
  return is_worse ? knob_verdict::worse : knob_verdict::better;
}

std::string knob_trial::text() const {
  if (candidate_.frames == 0 || incumbent_.frames == 0) return "it has served no frame";
  const side& after = probation_.frames > probation_block ? probation_ : candidate_;
  if (has_figure()) {
    return fmt::format("{} is {:.4g} in place of {:.4g}", goal_.figure, after.mean(),
                       incumbent_.mean());
  }
  const auto ms = [&](const side& of) { return 1e3 * of.blocks.quantile(goal_.quantile).value; };
  return fmt::format("the {:g} % quantile of the latencies is {:.4g} ms in place of {:.4g} ms",
                     100 * goal_.quantile, ms(after), ms(incumbent_));
}

}  // namespace tune::detail
