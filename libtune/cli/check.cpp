// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

#include "libtune/cli/commands.hpp"
#include "libtune/cli/output.hpp"
#include "libtune/store/database_check.hpp"

namespace tune::cli {
namespace {

exit_code run(const invocation& shared) {
  const std::string path = shared.database_path();
  const std::vector<check_finding> findings = check_database(path);
  const bool good = std::ranges::all_of(findings, &check_finding::good);
  if (shared.json) {
    json list = json::array();
    for (const check_finding& item : findings) {
      list.push_back({{"subject", item.subject}, {"good", item.good}, {"text", item.text}});
    }
    print_json({{"path", path}, {"good", good}, {"findings", std::move(list)}});
  } else {
    std::vector<std::vector<std::string>> lines;
    for (const check_finding& item : findings) {
      lines.push_back({item.good ? "good" : "BAD", item.subject, item.text});
    }
    print_table(lines);
  }
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
