// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/locked_results.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {
namespace {

struct diff_options {
  std::string before;
  std::string after;
};

const char* word(const result_difference& each) {
  if (each.before == nullptr) return "added";
  if (each.after == nullptr) return "removed";
  return each.is_other_tuning() ? "other tuning" : "other kernel";
}

json side(const locked_result* result) {
  if (result == nullptr) return nullptr;
  return {{"values", plain_json(result->values)},
          {"score_ns", number_or_null(result->score_ns)},
          {"tuned_at", result->tuned_at},
          {"programs", result->programs},
          {"library_version", result->library_version}};
}

std::string side_text(const json& row, const char* name) {
  const json& one = row[name];
  if (one.is_null()) return "-";
  std::string text;
  for (const auto& [field, v] : one["values"].items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", field,
                        v.is_string() ? v.get<std::string>() : v.dump());
  }
  return text.empty() ? "-" : text;
}

std::string time_change(const json& row) {
  if (row["before"].is_null() || row["after"].is_null()) return "-";
  const json& before = row["before"]["score_ns"];
  const json& after = row["after"]["score_ns"];
  if (!before.is_number() || !after.is_number() || before.get<double>() <= 0) return "-";
  return fmt::format("{:+.1f} %", 100 * (after.get<double>() / before.get<double>() - 1));
}

void run(invocation& shared, const diff_options& options) {
  const tuning_lock before = read_lock_or_database(options.before);
  const tuning_lock after = read_lock_or_database(options.after);
  json rows = json::array();
  for (const result_difference& each : differences(before, after)) {
    rows.push_back({{"change", word(each)},
                    {"function", each.function.name},
                    {"version", each.function.version},
                    {"arguments", plain_json(each.either().arguments)},
                    {"device", plain_json(each.either().device)},
                    {"before", side(each.before)},
                    {"after", side(each.after)}});
  }
  if (!rows.empty()) shared.result = different;
  if (rows.empty() && !shared.json) {
    print("{} results, all the same\n", before.size());
    return;
  }
  print_rows(shared.json, rows, rows,
             {{"CHANGE", "change"},
              {"FUNCTION", nullptr, function_text},
              {"KEY", "arguments"},
              {"DEVICE", "device"},
              {"BEFORE", nullptr, [](const json& row) { return side_text(row, "before"); }},
              {"AFTER", nullptr, [](const json& row) { return side_text(row, "after"); }},
              {"TIME", nullptr, time_change}});
}

}  // namespace

void add_diff(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<diff_options>();
  CLI::App* command = program.add_subcommand(
      "diff",
      "The differences between the results of two databases or locks: keys that one of them does "
      "not have, other tunings, and equal tunings of other kernels. Exit code 8 if there are any");
  command->add_option("BEFORE", options->before, "A database, or a lock")->required();
  command->add_option("AFTER", options->after, "A database, or a lock")->required();
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
