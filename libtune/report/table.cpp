// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/report/table.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "libtune/report/duration.hpp"

namespace tune {
namespace {

constexpr double near_best = 1.05;

std::vector<const trial*> measured_by_time(const search_finished_event& search) {
  std::vector<const trial*> sorted;
  for (const trial& item : search.trials) {
    if (item.score) sorted.push_back(&item);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const trial* a, const trial* b) { return *a->score < *b->score; });
  return sorted;
}

using row = std::vector<std::string>;

row header_of(const trial& any) {
  row cells;
  for (const named_value& field : any.configuration) cells.push_back(field.name);
  for (const char* name : {"time", "spread", "samples", "prepared in"}) cells.emplace_back(name);
  return cells;
}

row cells_of(const trial& item) {
  row cells;
  for (const named_value& field : item.configuration) cells.push_back(to_string(field.value));
  cells.push_back(format_run_time(*item.score));
  cells.push_back(fmt::format("{:.1f} %", 100 * item.samples.relative_spread()));
  cells.push_back(std::to_string(item.samples.size()));
  cells.push_back(format_run_time(item.preparation));
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
  for (std::size_t i = 0; i < cells.size(); ++i)
    out << fmt::format("  {:>{}}", cells[i], widths[i]);
  out << '\n';
}

void write_measured(std::ostream& out, const std::vector<const trial*>& sorted) {
  std::vector<row> rows{header_of(*sorted.front())};
  for (const trial* item : sorted) rows.push_back(cells_of(*item));
  const auto widths = widths_of(rows);
  write_row(out, ' ', rows.front(), widths);
  std::size_t near = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool is_near = *sorted[i]->score <= *sorted.front()->score * near_best;
    near += is_near ? 1 : 0;
    write_row(out, i == 0 ? '>' : is_near ? '*' : ' ', rows[i + 1], widths);
  }
  out << fmt::format("Best (>): {} at {}; {} within 5 % of it{}\n",
                     to_string(sorted.front()->configuration),
                     format_run_time(*sorted.front()->score), near - 1, near > 1 ? " (*)" : "");
}

std::string indented(const std::string& text, const char* by) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += by;
  }
  return result;
}

void write_unmeasured(std::ostream& out, const search_finished_event& search,
                      const table_options& options) {
  std::map<outcome, std::map<std::string, std::size_t>> reasons;
  for (const trial& item : search.trials) {
    if (item.score) continue;
    ++reasons[item.outcome][item.reason.substr(0, item.reason.find('\n'))];
  }
  for (const auto& [result, counts] : reasons) {
    for (const auto& [reason, count] : counts) {
      out << fmt::format("{} x {}: {}\n", count, outcome_name(result), reason);
    }
  }
  if (!options.verbose) return;
  for (const trial& item : search.trials) {
    if (item.score) continue;
    out << fmt::format("  {}: {}: {}\n", to_string(item.configuration), outcome_name(item.outcome),
                       indented(item.reason, "    "));
  }
}

}  // namespace

void write_table(std::ostream& out, const search_finished_event& search,
                 const table_options& options) {
  const auto sorted = measured_by_time(search);
  if (!sorted.empty()) write_measured(out, sorted);
  write_unmeasured(out, search, options);
  out.flush();
}

}  // namespace tune
