// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/trial_json.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace tune::detail {
namespace {

value number_of(run_time time) {
  return std::isfinite(time.count()) ? value(time.count()) : value();
}

value if_measured(const trial& item, run_time time) {
  return item.score ? number_of(time) : value();
}

constexpr std::array<trial_figure, 8> figures{{
    {"score_ns", false,
     [](const trial& item) { return item.score ? number_of(*item.score) : value(); }},
    {"score_lower_ns", false,
     [](const trial& item) { return item.bounds ? number_of(item.bounds->lower) : value(); }},
    {"score_upper_ns", false,
     [](const trial& item) { return item.bounds ? number_of(item.bounds->upper) : value(); }},
    {"spread_ns", true, [](const trial& item) { return if_measured(item, item.samples.spread()); }},
    {"min_ns", true, [](const trial& item) { return if_measured(item, item.samples.min()); }},
    {"mean_ns", true, [](const trial& item) { return if_measured(item, item.samples.mean()); }},
    {"samples", true, [](const trial& item) { return value(std::uint64_t{item.samples.size()}); }},
    {"preparation_ns", false,
     [](const trial& item) { return value(std::int64_t{item.preparation.count()}); }},
}};

}  // namespace

std::span<const trial_figure> trial_figures() noexcept { return figures; }

json plain_json(const trial& item) {
  json object{{"configuration", plain_json(item.configuration)},
              {"outcome", outcome_name(item.outcome)},
              {"reason", item.reason}};
  for (const trial_figure& figure : figures) {
    if (figure.derived) continue;
    object[figure.name] = plain_json(figure.read(item));
  }
  json samples = json::array();
  for (const run_time time : item.samples.times()) samples.push_back(number_or_null(time.count()));
  object["samples_ns"] = std::move(samples);
  return object;
}

}  // namespace tune::detail
