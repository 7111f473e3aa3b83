// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/files.hpp"

#include <cerrno>
#include <fstream>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/exchange/trial_json.hpp"

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
  return cells;
}

std::string csv_cell(const value& v) {
  return std::holds_alternative<std::monostate>(v) ? std::string() : to_string(v);
}

std::vector<std::string> csv_row(const trial& item) {
  std::vector<std::string> cells;
  for (const named_value& field : item.configuration) cells.push_back(csv_cell(field.value));
  cells.emplace_back(outcome_name(item.outcome));
  for (const detail::trial_figure& figure : detail::trial_figures()) {
    cells.push_back(csv_cell(figure.read(item)));
  }
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
  for (const trial& item : search.trials) trials.push_back(plain_json(item));
  const json object{
      {"function", search.subject.function},
      {"version", search.subject.version},
      {"arguments", plain_json(search.subject.arguments)},
      {"device", plain_json(search.subject.device.identity)},
      {"elapsed_ns", search.elapsed.count()},
      {"best", search.best ? plain_json(search.trials[*search.best].configuration) : json(nullptr)},
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
