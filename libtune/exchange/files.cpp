// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/files.hpp"

#include <cerrno>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/exchange/to_json.hpp"
#include "libtune/store/database/plain_json.hpp"

namespace tune {
namespace {

using detail::plain_json;
using detail::to_json;
using json = nlohmann::ordered_json;

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
  for (const char* name : {"outcome", "score_ns", "score_lower_ns", "score_upper_ns", "spread_ns",
                           "min_ns", "mean_ns", "samples", "preparation_ns", "reason"}) {
    cells.emplace_back(name);
  }
  return cells;
}

std::string csv_cell(const value& v) {
  return std::holds_alternative<std::monostate>(v) ? std::string() : to_string(v);
}

std::string csv_cell(run_time time) {
  return std::isfinite(time.count()) ? fmt::format("{}", time.count()) : std::string();
}

std::vector<std::string> csv_row(const trial& item) {
  std::vector<std::string> cells;
  for (const named_value& field : item.configuration) cells.push_back(csv_cell(field.value));
  cells.emplace_back(outcome_name(item.outcome));
  const auto time = [&](run_time t) { return item.score ? csv_cell(t) : std::string(); };
  cells.push_back(item.score ? csv_cell(*item.score) : std::string());
  cells.push_back(item.bounds ? csv_cell(item.bounds->lower) : std::string());
  cells.push_back(item.bounds ? csv_cell(item.bounds->upper) : std::string());
  cells.push_back(time(item.samples.spread()));
  cells.push_back(time(item.samples.min()));
  cells.push_back(time(item.samples.mean()));
  cells.push_back(std::to_string(item.samples.size()));
  cells.push_back(std::to_string(item.preparation.count()));
  cells.push_back(item.reason);
  return cells;
}

}  // namespace

void write_csv(std::ostream& out, const search_finished_event& search) {
  write_line(out, csv_header(search));
  for (const trial& item : search.trials) write_line(out, csv_row(item));
}

void write_json(std::ostream& out, const search_finished_event& search) {
  json trials = json::array();
  for (const trial& item : search.trials) trials.push_back(to_json(item));
  const json object{
      {"function", search.subject.function},
      {"version", search.subject.version},
      {"arguments", plain_json(search.subject.arguments)},
      {"device", to_json(search.subject.device.identity)},
      {"elapsed_ns", search.elapsed.count()},
      {"best", search.best ? plain_json(search.trials[*search.best].configuration) : json(nullptr)},
      {"trials", std::move(trials)}};
  // Strings from drivers may be any bytes; a report is not the place to fail on them.
  out << object.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
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
