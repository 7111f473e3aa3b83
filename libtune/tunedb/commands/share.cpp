// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The command for a database on a server that machines share.
#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/extra/shared/push_queue.hpp"
#include "libtune/extra/shared/shared_results.hpp"
#include "libtune/extra/shared/shared_store.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/files/store_url.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct share_options {
  std::string action;
  std::string url;
  std::string function;
  std::vector<std::string> readers;
  std::vector<std::string> writers;
};

/// A user waits longer than a lookup.
constexpr shared_store::waits patient{.connect = std::chrono::seconds(10),
                                      .answer = std::chrono::seconds(60)};

shared_store open_store(const invocation& shared, const share_options& options) {
  const std::string url = options.url.empty() ? shared.settings().shared_store : options.url;
  if (url.empty()) {
    throw usage_error("which server? Give its URL, or set LIBTUNE_SHARED_DB");
  }
  if (!is_store_url(url)) {
    throw usage_error("a server is named by a URL such as postgresql://user@host/database");
  }
  return {url, find_store_driver(url), patient};
}

void init(shared_store& store, const invocation& shared, const share_options& options) {
  store.init(options.readers, options.writers);
  if (shared.json) {
    print_json({{"store", store.name()}, {"version", shared_store::present_version}});
  } else {
    print("{} has the tables of a shared store, version {}\n", store.name(),
          shared_store::present_version);
  }
}

void show(shared_store& store, const invocation& shared) {
  const store_state now = store.state();
  const std::string database = shared.settings().database;
  const std::size_t waiting =
      database.empty() ? 0 : push_queue(push_queue::path_beside(database)).names().size();
  if (shared.json) {
    print_json({{"store", store.name()},
                {"server", now.server},
                {"version", now.version},
                {"results", now.results},
                {"functions", now.functions},
                {"user", now.user},
                {"may_push", now.may_push},
                {"waiting", waiting}});
    return;
  }
  print("{}, {}, tables of version {}\n{} results of {} functions; {} may {}\n", store.name(),
        now.server, now.version, now.results, now.functions, now.user,
        now.may_push ? "pull and push" : "pull");
  if (waiting > 0) print("{} results of '{}' wait to be pushed\n", waiting, database);
}

/// Prints the numbers and reasons of a push or pull. @returns part_left if something was skipped
exit_code report(const invocation& shared, json numbers, const std::string& text,
                 const std::vector<std::string>& reasons) {
  if (shared.json) {
    numbers["reasons"] = reasons;
    print_json(numbers);
  } else {
    print("{}\n", text);
    for (const std::string& reason : reasons) print("  left: {}\n", reason);
  }
  return reasons.empty() ? done : part_left;
}

exit_code pull(shared_store& store, const invocation& shared, const share_options& options) {
  std::vector<std::string> reasons;
  const auto leave = [&](const std::string& reason) { reasons.push_back(reason); };
  merge_report sum;
  const std::string path = shared.database_path();
  std::vector<shared_result> some;
  std::future<merge_report> merging;  // while the next results are received and read
  const auto end_merging = [&] {
    if (!merging.valid()) return;
    const merge_report made = merging.get();
    sum.results_added += made.results_added;
    sum.results_replaced += made.results_replaced;
    sum.results_kept += made.results_kept;
    for (const std::string& reason : made.reasons) leave(reason);
  };
  const auto begin_merging = [&] {
    database_content content = parse_shared(store.name(), some, leave).content;
    some.clear();
    std::erase_if(content.functions, [&](const function_content& one) {
      return !options.function.empty() && options.function != one.function.name &&
             options.function != table_name(one.function);
    });
    if (content.functions.empty()) return;
    join_functions(content);
    end_merging();
    merging = std::async(std::launch::async, [&path, content = std::move(content)] {
      return merge_content(path, content);
    });
  };
  constexpr std::size_t at_once = 256;
  store.for_each([&](const shared_result& one) {
    some.push_back(one);
    if (some.size() == at_once) begin_merging();
  });
  begin_merging();
  end_merging();
  return report(
      shared,
      {{"results_added", sum.results_added},
       {"results_replaced", sum.results_replaced},
       {"results_kept", sum.results_kept}},
      fmt::format("pulled from {}: {} results added, {} replaced by better ones, {} kept",
                  store.name(), sum.results_added, sum.results_replaced, sum.results_kept),
      reasons);
}

exit_code push(shared_store& store, const invocation& shared, const share_options& options) {
  const std::string path = shared.database_path();
  std::vector<std::string> reasons;
  const auto leave = [&](const std::string& reason) { reasons.push_back(reason); };
  push_report sum = push_all(store, push_queue(push_queue::path_beside(path)), leave);
  std::size_t foreign = 0;
  database_reader database(path);
  for (const function_identity& function : database.identities()) {
    if (!options.function.empty() && options.function != function.name &&
        options.function != table_name(function)) {
      continue;
    }
    database.for_each_result(function, {}, [&](const result_content& result) {
      const auto own =
          shared_content(database.read_key(function, {result.arguments, result.device()}));
      if (!own) {
        ++foreign;
        return;
      }
      try {
        ++(store.push(*own) == push_outcome::stored ? sum.stored : sum.kept);
      } catch (const shared_store_error& failure) {
        if (failure.fault() != store_fault::row) throw;
        leave(failure.what());
      }
    });
  }
  return report(
      shared, {{"stored", sum.stored}, {"kept", sum.kept}, {"not_measured", foreign}},
      fmt::format(
          "pushed to {}: {} results stored, {} of which the store has as good a one, {} not "
          "measured by libtune on their device",
          store.name(), sum.stored, sum.kept, foreign),
      reasons);
}

void show_log(shared_store& store, const invocation& shared, const share_options& options) {
  constexpr std::size_t most = 1000;
  json rows = json::array();
  for (const shared_decision& one : store.decisions(most)) {
    const bool is_chosen = options.function.empty() || one.function == options.function ||
                           split_function(one.function).first == options.function;
    if (!is_chosen) continue;
    rows.push_back({{"made_at", one.made_at},
                    {"decision", one.is_promoted ? "promoted" : "withdrawn"},
                    {"table", one.function},
                    {"key", one.arguments},
                    {"device_name", one.device},
                    {"configuration", one.configuration},
                    {"reason", one.reason},
                    {"made_by", one.made_by},
                    {"made_from", one.made_from}});
  }
  print_rows(shared.json, rows, rows,
             {{"TIME", "made_at"},
              {"DECISION", "decision"},
              {"FUNCTION", "table"},
              {"KEY", "key"},
              {"DEVICE", "device_name"},
              {"CONFIGURATION", "configuration"},
              {"BY", "made_by"},
              {"FROM", "made_from"},
              {"REASON", "reason"}});
}

void run(invocation& shared, const share_options& options) {
  shared_store store = open_store(shared, options);
  if (options.action == "init") return init(store, shared, options);
  if (options.action == "status") return show(store, shared);
  if (options.action == "log") return show_log(store, shared, options);
  shared.result =
      options.action == "pull" ? pull(store, shared, options) : push(store, shared, options);
}

}  // namespace

void add_share(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<share_options>();
  CLI::App* command = program.add_subcommand(
      "share",
      "Results on a PostgreSQL server that machines share. init makes its tables there; pull "
      "brings "
      "all its results into this database, as merge does; push stores there what this database has "
      "measured, and what waits to be pushed; status shows what it holds and who may do what; log "
      "lists the results that recheck --canary "
      "has promoted or withdrawn, the last first: who, when and why");
  command->add_option("ACTION", options->action, "What to do")
      ->required()
      ->check(CLI::IsMember({"init", "log", "pull", "push", "status"}));
  command->add_option("URL", options->url,
                      "The server's database, as postgresql://user@host/database; by default that "
                      "of LIBTUNE_SHARED_DB. A password is better kept in ~/.pgpass");
  command
      ->add_option("--function", options->function,
                   "pull, push or log only those of a function: NAME, or NAME__VERSION")
      ->type_name("NAME");
  command->add_option("--reader", options->readers, "A role that init lets pull")
      ->type_name("ROLE")
      ->allow_extra_args(false);
  command->add_option("--writer", options->writers, "A role that init lets pull and push")
      ->type_name("ROLE")
      ->allow_extra_args(false);
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
