// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <span>

#include "libtune/base/sha256.hpp"
#include "libtune/extra/maintenance/database_check.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {
namespace {

/// The digest of a configuration for a key on a device, in place of the texts themselves.
detail::sha256_digest digest_of(const column_values& key,
                                const std::vector<named_value>& configuration) {
  const std::string text =
      fmt::format("{}\n{}\n{}", text_of(key, "arguments_canonical"),
                  text_of(key, "device_canonical"), canonical_text(configuration));
  return detail::sha256(std::as_bytes(std::span(text)));
}

/// Adds the configurations that a search measured with known programs.
void add_origins(const search_content& search, std::set<detail::sha256_digest>& origins) {
  for (const trial_content& trial : search.trials) {
    if (!trial.score_ns() || text_of(trial.columns, "programs").empty()) continue;
    origins.insert(digest_of(search.columns, trial.configuration));
  }
}

/// Counts the results of which a program can detect a change of the kernel.
check_finding check_origins(const std::string& path) {
  std::size_t results = 0;
  std::size_t known = 0;
  database_reader database(path, database_access::read_only);
  for (const function_identity& function : database.identities()) {
    std::set<detail::sha256_digest> origins;
    for (const std::int64_t number : database.find_searches(function)) {
      if (const auto search = database.read_search(number)) add_origins(*search, origins);
    }
    database.for_each_result(function, {}, [&](const result_content& result) {
      const column_values key = search_columns(result.arguments, result.device());
      ++results;
      known += origins.count(digest_of(key, result.values));
    });
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
