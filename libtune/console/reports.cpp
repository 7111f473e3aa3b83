// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/reports.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/terminal_text.hpp"
#include "libtune/console/result_text.hpp"
#include "libtune/console/trial_json.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/metric_sources.hpp"

namespace tune {
namespace {

using detail::json;
using detail::plain_json;

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

void write_line(std::ostream& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) out << (i == 0 ? "" : ",") << quoted(cells[i]);
  out << "\r\n";
}

std::vector<std::string> csv_header(const search_finished_event& search) {
  std::vector<std::string> cells;
  if (!search.trials.empty()) {
    for (const named_value& field : search.trials.front().configuration) {
      cells.push_back(field.name);
    }
  }
  cells.emplace_back("outcome");
  for (const detail::trial_figure& figure : detail::trial_figures()) {
    cells.emplace_back(figure.name);
  }
  cells.emplace_back("reason");
  for (const std::string& name : metric_names(search.trials)) cells.push_back(name);
  return cells;
}

std::string csv_cell(const value& v) {
  return std::holds_alternative<std::monostate>(v) ? std::string() : to_string(v);
}

std::vector<std::string> csv_row(const trial& item, const std::vector<std::string>& metrics) {
  std::vector<std::string> cells;
  for (const named_value& field : item.configuration) cells.push_back(csv_cell(field.value));
  cells.emplace_back(outcome_name(item.outcome));
  for (const detail::trial_figure& figure : detail::trial_figures()) {
    cells.push_back(csv_cell(figure.read(item)));
  }
  cells.push_back(item.reason);
  for (const std::string& name : metrics) {
    const metric* own = find_metric(item.metrics, name);
    const bool known = own != nullptr && !std::isnan(own->value);
    cells.push_back(known ? csv_cell(own->value) : std::string());
  }
  return cells;
}

constexpr double near_best = 1.05;
// The first few show the problem.
constexpr std::size_t listed_reasons = 5;

// The search's choice comes first: it compares by more than the times, some of which may have been
// measured while the device was faster or slower. Of equal times the earlier configuration of the
// space comes first. For another goal, sorted by the first objective.
std::vector<const trial*> measured_by_goal(const search_finished_event& search) {
  std::vector<const trial*> sorted;
  for (const trial& item : search.trials) {
    if (item.score) sorted.push_back(&item);
  }
  const trial* const best = search.best ? &search.trials[*search.best] : nullptr;
  const objective first =
      search.goal.objectives.empty() ? objective{} : search.goal.objectives.front();
  const auto order_of = [&](const trial* item) {
    const double cost = detail::cost_of(first, metric_value(*item, first.metric));
    const double order = std::isnan(cost) ? std::numeric_limits<double>::infinity() : cost;
    return std::tuple(item != best, order, *item->score, item->index);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const trial* a, const trial* b) { return order_of(a) < order_of(b); });
  return sorted;
}

using row = std::vector<std::string>;

/// The metrics that differ between trials; equal ones give no information.
std::vector<std::string> telling_metrics(const std::vector<const trial*>& sorted) {
  std::vector<std::string> telling;
  for (const trial* item : sorted) {
    for (const metric& own : item->metrics) {
      const bool differs =
          sorted.size() == 1 || std::ranges::any_of(sorted, [&](const trial* other) {
            const metric* its = find_metric(other->metrics, own.name);
            return its == nullptr || !(*its == own);
          });
      const bool is_new = std::ranges::find(telling, own.name) == telling.end();
      if (differs && is_new) telling.push_back(own.name);
    }
  }
  return telling;
}

row header_of(const trial& any, const varying_fields& fields,
              const std::vector<std::string>& metrics) {
  row cells;
  for (const named_value& field : fields.varying(any.configuration)) cells.push_back(field.name);
  for (const char* name : {"time", "interval", "spread", "samples", "prepared in"})
    cells.emplace_back(name);
  cells.insert(cells.end(), metrics.begin(), metrics.end());
  return cells;
}

row cells_of(const trial& item, const varying_fields& fields,
             const std::vector<std::string>& metrics) {
  row cells;
  for (const named_value& field : fields.varying(item.configuration)) {
    cells.push_back(to_string(field.value));
  }
  cells.push_back(format_run_time(*item.score));
  cells.push_back(item.bounds ? format_run_time(item.bounds->lower) + " to " +
                                    format_run_time(item.bounds->upper)
                              : "-");
  cells.push_back(fmt::format("{:.1f} %", 100 * item.samples.relative_spread()));
  cells.push_back(std::to_string(item.samples.size()));
  cells.push_back(format_run_time(item.preparation));
  for (const std::string& name : metrics) {
    const metric* own = find_metric(item.metrics, name);
    cells.push_back(own != nullptr ? format_metric(*own) : "-");
  }
  return cells;
}

std::vector<std::size_t> widths_of(const std::vector<row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const row& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  return widths;
}

void write_row(std::ostream& out, char mark, const row& cells,
               const std::vector<std::size_t>& widths) {
  out << mark;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out << fmt::format("  {:>{}}", cells[i], widths[i]);
  }
  out << '\n';
}

void write_measured(std::ostream& out, const std::vector<const trial*>& sorted,
                    const varying_fields& fields) {
  const trial& best = *sorted.front();
  const std::vector<std::string> metrics = telling_metrics(sorted);
  std::vector<row> rows{header_of(best, fields, metrics)};
  for (const trial* item : sorted) rows.push_back(cells_of(*item, fields, metrics));
  const auto widths = widths_of(rows);
  write_row(out, ' ', rows.front(), widths);
  std::size_t near = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool is_near = i > 0 && *sorted[i]->score <= *best.score * near_best;
    near += is_near ? 1 : 0;
    write_row(out, i == 0 ? '>' : is_near ? '*' : ' ', rows[i + 1], widths);
  }
  out << fmt::format("Best (>): {}; {} within 5 % of it{}\n",
                     format_result(*best.score, fields.varying(best.configuration)), near,
                     near > 0 ? " (*)" : "");
}

/// The configurations that no other one dominates, with several objectives.
void write_front(std::ostream& out, const search_finished_event& search,
                 const varying_fields& fields) {
  if (search.goal.objectives.size() < 2) return;
  out << "Pareto front:\n";
  for (const std::size_t place : pareto_front(search.goal, search.trials)) {
    const trial& item = search.trials[place];
    std::string text;
    for (const objective& by : search.goal.objectives) {
      const metric* own = find_metric(item.metrics, by.metric);
      const std::string figure = own != nullptr
                                     ? format_metric(*own)
                                     : format_run_time(run_time(metric_value(item, by.metric)));
      text += (text.empty() ? "" : ", ") + by.metric + " " + figure;
    }
    out << fmt::format("  {} ({})\n", text, to_string(fields.varying(item.configuration)));
  }
}

std::string indented(const std::string& text, const char* by) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += by;
  }
  return result;
}

std::string described(outcome result, const std::string& reason) {
  return std::string(outcome_name(result)) + (reason.empty() ? "" : ": " + reason);
}

void write_reasons(std::ostream& out, const std::vector<reason_group>& groups, outcome result) {
  std::size_t listed = 0;
  std::size_t others = 0;
  for (const reason_group& group : groups) {
    if (group.outcome != result) continue;
    if (listed++ < listed_reasons) {
      out << fmt::format("{} x {}{}\n", group.count, described(result, group.reason),
                         group.differs ? ", and the like" : "");
    } else {
      others += group.count;
    }
  }
  if (others > 0) out << fmt::format("{} x {}\n", others, described(result, "other reasons"));
}

void write_each_unmeasured(std::ostream& out, const search_finished_event& search,
                           const varying_fields& fields) {
  for (const trial& item : search.trials) {
    if (item.score) continue;
    out << fmt::format("  {}: {}\n", to_string(fields.varying(item.configuration)),
                       described(item.outcome, indented(item.reason, "    ")));
  }
}

void write_unmeasured(std::ostream& out, const search_finished_event& search) {
  std::set<outcome> outcomes;
  for (const trial& item : search.trials) {
    if (!item.score) outcomes.insert(item.outcome);
  }
  if (outcomes.empty()) out << "No configuration was skipped.\n";
  const std::vector<reason_group> groups = group_reasons(search.trials);
  for (const outcome result : outcomes) write_reasons(out, groups, result);
}

constexpr std::size_t listed_values = 32;  // values of a parameter

std::string format_best(const std::optional<double>& best, const coverage_figure& figure) {
  if (!best) return "-";
  return figure.unit == "ns" ? format_run_time(run_time(*best))
                             : format_metric({figure.name, *best, figure.unit});
}

/// A line for each value of a parameter, the first one with its name.
void add_values(std::vector<row>& rows, const parameter_coverage& of,
                const coverage_figure& figure) {
  std::vector<value_coverage> listed = of.values;
  if (listed.size() > listed_values) {
    std::ranges::stable_sort(listed, {}, [](const value_coverage& one) {
      return std::pair(!one.ratio, one.ratio.value_or(0));
    });
    listed.resize(listed_values);
  }
  const std::size_t first = rows.size();
  for (const value_coverage& one : listed) {
    // Other than the best, whose ratio is 1.
    const bool is_other = one.ratio && *one.lower < *one.upper;
    rows.push_back({"", "", to_string(one.value), std::to_string(one.tried),
                    std::to_string(one.measured), format_best(one.best, figure),
                    one.ratio ? fmt::format("{:.2f}", *one.ratio) : "-",
                    is_other ? fmt::format("{:.2f} to {:.2f}", *one.lower, *one.upper) : "-"});
  }
  if (of.values.size() > listed.size()) {
    rows.push_back(
        {"", "", fmt::format("{} more", of.values.size() - listed.size()), "", "", "", "", ""});
  }
  rows[first][0] = of.name;
  rows[first][1] = fmt::format("{:.0f} %", 100 * of.share);
}

}  // namespace

void write_table(std::ostream& to, const search_finished_event& search,
                 const table_options& options) {
  if (search.trials.empty()) {
    to << "No configuration was tried." << std::endl;
    return;
  }
  std::ostringstream out;
  const varying_fields fields(search.trials);
  const auto common = fields.common();
  if (!common.empty()) out << "The same for all: " << to_string(common) << '\n';
  if (!search.goal.is_time()) out << "Goal: " << to_string(search.goal) << '\n';
  const auto sorted = measured_by_goal(search);
  if (!sorted.empty()) {
    write_measured(out, sorted, fields);
    write_front(out, search, fields);
  } else {
    out << "No configuration could be measured.\n";
  }
  write_unmeasured(out, search);
  if (search.memory_held_bytes > 0) {
    out << fmt::format("Device memory: {:.1f} MiB at the most, of {:.0f} MiB that it could hold\n",
                       static_cast<double>(search.memory_held_bytes) * 0x1p-20,
                       static_cast<double>(search.memory_budget_bytes) * 0x1p-20);
  }
  for (const std::string& doubt : search.doubts) out << "Note: " << doubt << '\n';
  if (options.verbose) write_each_unmeasured(out, search, fields);
  if (options.coverage) write_coverage(out, coverage_of(search));
  to << detail::terminal_text(out.str()) << std::flush;
}

void write_coverage(std::ostream& out, const coverage& tried) {
  out << "Coverage: " << tried.summary().front() << '\n';
  std::vector<row> rows{
      {"parameter", "share", "value", "tried", "measured", "best", "ratio", "interval"}};
  for (const parameter_coverage& item : tried.parameters()) {
    if (item.values.size() > 1) add_values(rows, item, tried.figure());
  }
  if (rows.size() == 1) return;
  const auto widths = widths_of(rows);
  for (const row& cells : rows) write_row(out, ' ', cells, widths);
  out << fmt::format(
      "Ratio: what a value costs, all else being equal, with the 95 % interval; share: of the\n"
      "variation of {}, of which the parameters explain {:.0f} % one by one\n",
      tried.figure().name, 100 * tried.explained());
}

void write_coverage_csv(std::ostream& out, const coverage& tried) {
  write_line(out, {"parameter", "share", "value", "tried", "measured", "best", "unit", "ratio",
                   "lower", "upper"});
  const auto number = [](const std::optional<double>& n) { return n ? to_string(*n) : ""; };
  for (const parameter_coverage& item : tried.parameters()) {
    for (const value_coverage& one : item.values) {
      write_line(out,
                 {item.name, number(item.share), csv_cell(one.value), std::to_string(one.tried),
                  std::to_string(one.measured), number(one.best), tried.figure().unit,
                  number(one.ratio), number(one.lower), number(one.upper)});
    }
  }
}

void write_coverage_csv(std::ostream& out, const search_finished_event& search) {
  write_coverage_csv(out, coverage_of(search));
}

void write_csv(std::ostream& out, const search_finished_event& search) {
  write_line(out, csv_header(search));
  const std::vector<std::string> metrics = metric_names(search.trials);
  for (const trial& item : search.trials) write_line(out, csv_row(item, metrics));
}

void write_json(std::ostream& out, const search_finished_event& search) {
  json trials = json::array();
  for (const trial& item : search.trials) trials.push_back(plain_json(item));
  json front = json::array();
  for (const std::size_t place : pareto_front(search.goal, search.trials)) {
    front.push_back(plain_json(search.trials[place].configuration));
  }
  const json object{
      {"function", search.subject.function},
      {"version", search.subject.version},
      {"arguments", plain_json(search.subject.arguments)},
      {"device", plain_json(search.subject.device.identity)},
      {"elapsed_ns", search.elapsed.count()},
      {"end", search_end_name(search.end)},
      {"goal", to_string(search.goal)},
      {"best", search.best ? plain_json(search.trials[*search.best].configuration) : json(nullptr)},
      {"front", std::move(front)},
      {"coverage", plain_json(coverage_of(search))},
      {"trials", std::move(trials)}};
  out << detail::json_text(object, 2) << '\n';
}

file_reporter::file_reporter(std::string path, writer writes)
    : path_(std::move(path)), writes_(std::move(writes)) {}

void file_reporter::search_finished(const search_finished_event& event) {
  errno = 0;
  std::ofstream file(path_, std::ios::trunc);
  if (file) writes_(file, event);
  file.flush();
  if (file) return;
  const std::string why = errno != 0 ? std::generic_category().message(errno) : "the stream failed";
  throw error("the report '" + path_ + "' could not be written: " + why);
}

}  // namespace tune
