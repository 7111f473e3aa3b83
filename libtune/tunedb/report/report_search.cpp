// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/report/report_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "libtune/console/trial_json.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tunedb/bit_groups.hpp"
#include "libtune/tunedb/report/stored_numbers.hpp"

namespace tune::cli {
namespace {

// The number of finalists whose samples are all shown.
constexpr std::size_t most_finalists = 12;
constexpr std::size_t most_samples = 500;
constexpr double digits = 6;

/// A number rounded to the digits of a time; integers without a point.
report_json rounded(double number) {
  if (!std::isfinite(number)) return nullptr;
  if (number != 0) {
    const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::fabs(number))));
    // A fractional scale is applied by division, because powers of ten below one are not exact.
    if (scale >= 1) {
      number = std::round(number * scale) / scale;
    } else {
      const double unit = std::round(1 / scale);
      number = std::round(number / unit) * unit;
    }
  }
  if (number == std::floor(number) && std::fabs(number) < 9e15) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

report_json rounded(std::optional<double> number) {
  return number ? rounded(*number) : report_json(nullptr);
}

std::optional<double> number_of(const column_values& columns, const char* name) {
  const auto found = columns.find(name);
  if (found == columns.end()) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&found->second)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&found->second);
  return real != nullptr ? std::optional(*real) : std::nullopt;
}

const std::string& text_in(const column_values& columns, const char* name) {
  static const std::string none;
  const auto found = columns.find(name);
  const auto* text = found == columns.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? none : *text;
}

/// Orders numbers before texts, and numbers by their value.
bool comes_before(const value& a, const value& b) {
  const auto number = [](const value& v) -> std::optional<double> {
    if (const auto* whole = std::get_if<std::int64_t>(&v)) return static_cast<double>(*whole);
    if (const auto* natural = std::get_if<std::uint64_t>(&v)) return static_cast<double>(*natural);
    if (const auto* real = std::get_if<double>(&v)) return *real;
    if (const auto* truth = std::get_if<bool>(&v)) return *truth ? 1 : 0;
    return std::nullopt;
  };
  const auto x = number(a);
  const auto y = number(b);
  if (x && y && !std::isnan(*x) && !std::isnan(*y)) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return to_string(a) < to_string(b);
}

/// A parameter of all trials of a search.
class parameter_column {
 public:
  parameter_column(std::string name, std::size_t trials)
      : name_(std::move(name)), index_(trials, -1) {}

  void set(std::size_t trial, const value& v) {
    const int number = numbers_.of(to_string(v));
    if (static_cast<std::size_t>(number) == values_.size()) values_.push_back(v);
    index_[trial] = number;
  }

  report_json document() && {
    std::vector<int> order(values_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) {
      return comes_before(values_[static_cast<std::size_t>(a)],
                          values_[static_cast<std::size_t>(b)]);
    });
    std::vector<int> place(order.size());
    report_json sorted = report_json::array();
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
      sorted.emplace_back(detail::plain_json(values_[static_cast<std::size_t>(order[i])]));
    }
    for (int& number : index_) {
      if (number >= 0) number = place[static_cast<std::size_t>(number)];
    }
    report_json made;
    made["name"] = name_;
    made["values"] = std::move(sorted);
    made["index"] = std::move(index_);
    return made;
  }

 private:
  std::string name_;
  numbering numbers_;
  std::vector<value> values_;
  std::vector<int> index_;
};

report_json parameters_of(const std::vector<trial_content>& trials) {
  std::vector<parameter_column> columns;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (const auto& [name, v] : trials[i].configuration) {
      const auto [place, is_new] = places.try_emplace(name, columns.size());
      if (is_new) columns.emplace_back(name, trials.size());
      columns[place->second].set(i, v);
    }
  }
  report_json list = report_json::array();
  for (parameter_column& column : columns) list.push_back(std::move(column).document());
  return list;
}

/// The metrics of all trials; each is read once.
struct metric_columns {
  explicit metric_columns(const std::vector<trial_content>& trials) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (text_in(trials[i].columns, detail::metrics_column).empty()) continue;
      for (const metric& one : trials[i].metrics()) {
        const auto [place, is_new] = places.try_emplace(one.name, columns.size());
        if (is_new) columns.push_back({one.name, one.unit, {}});
        auto& values = columns[place->second].values;
        values.resize(trials.size());
        if (std::isfinite(one.value)) values[i] = one.value;
      }
    }
  }

  struct column {
    std::string name;
    std::string unit;
    std::vector<std::optional<double>> values;
  };

  const column* find(const std::string& name) const {
    const auto found = std::ranges::find(columns, name, &column::name);
    return found == columns.end() ? nullptr : &*found;
  }

  report_json document() const {
    report_json list = report_json::array();
    for (const column& one : columns) {
      report_json values = report_json::array();
      for (const auto& number : one.values) values.push_back(rounded(number));
      report_json& own = list.emplace_back();
      own["name"] = one.name;
      own["unit"] = one.unit;
      own["values"] = std::move(values);
    }
    return list;
  }

  std::vector<column> columns;
};

/// The groups of trials with the same bits. The digests themselves, which would be rounded, are
/// replaced by the numbers of the groups.
report_json take_bits(metric_columns& metrics) {
  const auto own = std::ranges::find(metrics.columns, bits_metric, &metric_columns::column::name);
  if (own == metrics.columns.end()) return nullptr;
  const bit_groups groups(own->values);
  for (std::size_t i = 0; i < own->values.size(); ++i) {
    if (own->values[i]) own->values[i] = static_cast<double>(*groups.groups()[i] + 1);
  }
  return groups.text();
}

/// For each outcome without a time, the number and the reasons.
report_json reasons_of(const std::vector<trial_content>& trials) {
  struct reason {
    std::size_t count = 0;
    std::size_t remembered = 0;
    std::string message{};
  };
  std::map<std::string, reason> reasons;
  for (const trial_content& trial : trials) {
    if (trial.score_ns()) continue;
    reason& own = reasons[text_in(trial.columns, "outcome")];
    ++own.count;
    if (number_of(trial.columns, "remembered").value_or(0) != 0) ++own.remembered;
    if (own.message.empty()) own.message = text_in(trial.columns, "message");
  }
  std::vector<std::pair<std::string, reason>> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const auto& one) { return one.second.count; });
  report_json list = report_json::array();
  for (const auto& [outcome, own] : sorted) {
    list.push_back({{"outcome", outcome},
                    {"count", own.count},
                    {"remembered", own.remembered},
                    {"message", own.message}});
  }
  return list;
}

/// The figure by which a search compares its configurations: a column, by default the time.
std::vector<std::optional<double>> scores_of(const std::vector<trial_content>& trials,
                                             const metric_columns& metrics, const objective& goal) {
  std::vector<std::optional<double>> scores(trials.size());
  const auto* own = goal.metric == "time" ? nullptr : metrics.find(goal.metric);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto time = trials[i].score_ns();
    scores[i] = own != nullptr && time ? own->values[i] : time;
  }
  return scores;
}

report_json finalists_of(const std::vector<trial_content>& trials,
                         const std::vector<std::optional<double>>& scores, bool maximise) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i]) order.push_back(i);
  }
  const std::size_t kept = std::min(order.size(), most_finalists);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(kept), {},
                            [&](std::size_t i) { return maximise ? -*scores[i] : *scores[i]; });
  order.resize(kept);
  report_json list = report_json::array();
  for (const std::size_t i : order) {
    const std::vector<double> all = trials[i].samples_ns();
    const std::size_t step = (all.size() + most_samples - 1) / most_samples;
    report_json samples = report_json::array();
    for (std::size_t at = 0; at < all.size(); at += std::max<std::size_t>(step, 1)) {
      samples.push_back(rounded(all[at]));
    }
    report_json& own = list.emplace_back();
    own["trial"] = i;
    own["samples"] = std::move(samples);
  }
  return list;
}

report_json effects_of(std::vector<trial_content>& trials, const std::optional<stored_space>& space,
                       const std::vector<std::optional<double>>& scores,
                       const coverage_figure& figure) {
  if (std::ranges::count_if(scores, [](const auto& s) { return s.has_value(); }) < 2)
    return nullptr;
  std::vector<tried_configuration> tried;
  tried.reserve(trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    tried.push_back(
        {std::move(trials[i].configuration), scores[i], text_in(trials[i].columns, "outcome")});
  }
  report_json document(detail::plain_json(coverage(detail::outline_of(space), tried, {}, figure)));
  for (auto& parameter : document["parameters"]) {
    for (auto& row : parameter["values"]) {
      for (auto& [name, item] : row.items()) {
        if (name != "value" && item.is_number_float()) item = rounded(item.get<double>());
      }
    }
  }
  return document;
}

/// The columns of a search with an item for each trial, except parameters and metrics.
void add_columns(report_json& to, const search_content& search) {
  const std::size_t count = search.trials.size();
  const auto start = seconds_of(text_in(search.columns, "started_at"));
  std::vector<std::optional<double>> stored(count);
  numbering outcomes;
  std::vector<int> outcome(count);
  std::vector<std::size_t> samples(count);
  report_json score = report_json::array();
  report_json lower = report_json::array();
  report_json upper = report_json::array();
  report_json preparation = report_json::array();
  report_json measuring = report_json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const trial_content& trial = search.trials[i];
    const auto made = seconds_of(text_in(trial.columns, "made_at"));
    if (start && made) stored[i] = std::max(0.0, *made - *start);
    outcome[i] = outcomes.of(text_in(trial.columns, "outcome"));
    score.push_back(rounded(trial.score_ns()));
    lower.push_back(rounded(trial.score_lower_ns()));
    upper.push_back(rounded(trial.score_upper_ns()));
    preparation.push_back(rounded(number_of(trial.columns, "preparation_ns").value_or(0)));
    const number_sum sum = sum_of_numbers(text_in(trial.columns, "samples_ns"));
    measuring.push_back(rounded(sum.sum));
    samples[i] = sum.count;
  }
  report_json seconds = report_json::array();
  for (const auto& one : spread_seconds(std::move(stored))) {
    seconds.push_back(one ? report_json(std::round(*one * 1000) / 1000) : report_json(nullptr));
  }
  to["outcomes"] = outcomes.things();
  to["outcome"] = std::move(outcome);
  to["seconds"] = std::move(seconds);
  to["score"] = std::move(score);
  to["lower"] = std::move(lower);
  to["upper"] = std::move(upper);
  to["preparation"] = std::move(preparation);
  to["measuring"] = std::move(measuring);
  to["samples"] = std::move(samples);
}

report_json text_or_null(const column_values& columns, const char* name) {
  const std::string& text = text_in(columns, name);
  return text.empty() ? report_json(nullptr) : report_json(text);
}

}  // namespace

report_json report_of(search_content&& search, const objective& goal) {
  const auto space = detail::space_from_json(text_in(search.columns, "outline"));
  report_json document{
      {"id", search.id},
      {"key", text_in(search.columns, "arguments")},
      {"started", text_or_null(search.columns, "started_at")},
      {"finished", text_or_null(search.columns, "finished_at")},
      {"result", text_in(search.columns, "result")},
      {"strategy", text_in(search.columns, "strategy")},
      {"ending", text_in(search.columns, "ending")},
      {"inputs", text_in(search.columns, "inputs")},
      {"library", text_in(search.columns, "library_version")},
      {"compiler", text_in(search.columns, "compiler")},
      {"stage", number_of(search.columns, "stage").value_or(0)},
      {"configurations", space ? report_json(space->configurations) : report_json(nullptr)},
      {"trials", search.trials.size()}};
  document["parameters"] = parameters_of(search.trials);
  add_columns(document, search);
  metric_columns metrics(search.trials);
  document["bits"] = take_bits(metrics);
  const auto scores = scores_of(search.trials, metrics, goal);
  const auto* own = goal.metric == "time" ? nullptr : metrics.find(goal.metric);
  const coverage_figure figure{.name = own == nullptr ? "time" : own->name,
                               .unit = own == nullptr ? "ns" : own->unit,
                               .maximise = own != nullptr && goal.maximise};
  document["metrics"] = metrics.document();
  document["reasons"] = reasons_of(search.trials);
  document["finalists"] = finalists_of(search.trials, scores, figure.maximise);
  document["effects"] = effects_of(search.trials, space, scores, figure);  // moves their parts
  return document;
}

}  // namespace tune::cli
