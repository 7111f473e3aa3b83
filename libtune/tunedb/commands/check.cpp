// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

#include "libtune/extra/maintenance/database_check.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {
namespace {

bool knows_programs(const search_content& search, const result_content& result) {
  return std::ranges::any_of(search.trials, [&](const trial_content& trial) {
    return trial.score_ns() && trial.configuration == result.values &&
           !text_of(trial.columns, "programs").empty();
  });
}

/// True if a program can detect a change of a result's kernel.
bool has_origin(const function_content& content, const result_content& result) {
  const column_values of_result = search_columns(result.arguments, result.device());
  return std::ranges::any_of(content.searches, [&](const search_content& search) {
    const auto same = [&](const char* column) {
      return text_of(search.columns, column) == text_of(of_result, column);
    };
    return same("arguments_canonical") && same("device_canonical") &&
           knows_programs(search, result);
  });
}

check_finding check_origins(const std::string& path) {
  std::size_t results = 0;
  std::size_t known = 0;
  const database_content all = database_reader(path, database_access::read_only).read_all();
  for (const function_content& content : all.functions) {
    results += content.results.size();
    known += static_cast<std::size_t>(std::ranges::count_if(
        content.results,
        [&](const result_content& result) { return has_origin(content, result); }));
  }
  return {"kernels", true,
          fmt::format("of {} results {} say with which programs they were measured; a change of "
                      "the kernels of the others is not noticed",
                      results, known)};
}

exit_code run(const invocation& shared) {
  const std::string path = shared.database_path();
  std::vector<check_finding> findings = check_database(path);
  if (std::ranges::all_of(findings, &check_finding::good)) {
    findings.push_back(check_origins(path));
  }
  const bool good = std::ranges::all_of(findings, &check_finding::good);
  json list = json::array();
  for (const check_finding& item : findings) {
    list.push_back({{"subject", item.subject}, {"good", item.good}, {"text", item.text}});
  }
  const auto mark = [](const json& row) {
    return std::string(row["good"].get<bool>() ? "good" : "BAD");
  };
  print_rows(shared.json, {{"path", path}, {"good", good}, {"findings", list}}, list,
             {{nullptr, nullptr, mark}, {nullptr, "subject"}, {nullptr, "text"}});
  return good ? done : faults_found;
}

}  // namespace

void add_check(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand(
      "check",
      "Looks at all that can be wrong with the database, and changes nothing: its pages, the "
      "checksum and types of every row, permissions, the file system");
  command->callback([&shared] { shared.result = run(shared); });
}

}  // namespace tune::cli
