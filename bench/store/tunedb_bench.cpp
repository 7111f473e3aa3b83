// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how long do the commands of tunedb take on a large database, and how much memory?
//
// Method: a new database in a temporary folder has one function with RESULTS results and RESULTS /
// 1000 searches of 1000 trials each. Each command runs once before in a process of its own, so that
// the file is in the system's cache, and then once more, with its output to a file. The table has
// the time of that process, and its largest resident memory.
//
//   store_tunedb_bench TUNEDB [RESULTS, 1000000]
#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/tuning_database.hpp"

namespace {

const tune::function_identity function{.name = "bench.autotune",
                                       .version = 0,
                                       .key_fields = {{"rows", tune::value_type::int32}},
                                       .value_fields = {{"wgs", tune::value_type::int32}}};
const tune::device_identity device{.name = "GPU", .platform = "CUDA", .driver_version = "13.0"};

void add_results(const std::string& path, std::int64_t count) {
  tune::tuning_database(path).store(function, {{{"rows", std::int64_t{0}}}, device},
                                    {{"wgs", std::int64_t{128}}}, 1500.0);
  tune::detail::connection opened(path, std::chrono::seconds(10), std::chrono::seconds(10));
  SQLite::Statement insert(
      opened.database(),
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1) "
      "INSERT INTO \"bench.autotune__0\" (arg_rows, device_name, device_platform, device_version, "
      "value_wgs, score_ns, tuned_at, checksum) SELECT i, 'GPU', 'CUDA', '13.0', 32 << (i % 5), "
      "1000.0 + i, '2024-01-01T00:00:00Z', x'' FROM n");
  insert.bind(1, count);
  insert.exec();
  tune::detail::row_layout rows{"bench.autotune__0",
                                {"arg_rows", "value_wgs", "score_ns", "tuned_at"}};
  for (const auto& column : tune::identity_columns()) rows.columns.emplace_back(column.name);
  opened.database().exec(rows.update({{"arg_rows", "arg_rows"}}));
}

tune::search_content search(std::int64_t rows) {
  using tune::column_value;
  tune::search_content made{.columns = tune::search_columns({{"rows", rows}}, device),
                            .trials = {}};
  made.columns["started_at"] =
      fmt::format("2024-01-01T{:02}:{:02}:{:02}Z", rows / 3600 % 24, rows / 60 % 60, rows % 60);
  made.columns["finished_at"] = std::string("2024-01-02T00:00:00Z");
  made.columns["result"] = std::string("found");
  for (std::int64_t i = 0; i < 1000; ++i) {
    made.trials.push_back({.configuration = {{"wgs", i}},
                           .columns = {{"outcome", std::string("measured")},
                                       {"message", std::string()},
                                       {"score_ns", 1000.0 + static_cast<double>(i)},
                                       {"samples_ns", std::string("[1500,1501,1502]")},
                                       {"preparation_ns", std::int64_t{1'000'000}},
                                       {"made_at", std::string("2024-01-01T12:00:00Z")}}});
  }
  return made;
}

void add_searches(const std::string& path, std::int64_t count) {
  constexpr std::int64_t at_once = 50;
  for (std::int64_t first = 0; first < count; first += at_once) {
    tune::function_content some{.function = function};
    for (std::int64_t i = first; i < std::min(first + at_once, count); ++i) {
      some.searches.push_back(search(i));
    }
    const tune::merge_report made = tune::merge_content(path, {{std::move(some)}});
    if (!made.reasons.empty()) throw std::runtime_error(made.reasons.front());
  }
}

struct cost {
  double seconds = 0;
  double megabytes = 0;
  int status = 0;
};

cost run(std::vector<std::string> command, const std::string& output) {
  const auto begin = std::chrono::steady_clock::now();
  const ::pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(file, STDOUT_FILENO);
    std::vector<char*> arguments;
    for (std::string& each : command) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  int status = 0;
  struct rusage used {};
  if (::wait4(child, &status, 0, &used) != child) throw std::runtime_error("wait4 failed");
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return {time.count(), static_cast<double>(used.ru_maxrss) / 1024, WEXITSTATUS(status)};
}

void measure(const std::string& tunedb, const std::filesystem::path& folder,
             const std::vector<std::vector<std::string>>& commands) {
  fmt::print("{:<48} {:>9} {:>9} {:>7}\n", "command", "s", "MB", "status");
  for (const auto& words : commands) {
    std::vector<std::string> command{tunedb, "--db", (folder / "large.db").string()};
    command.insert(command.end(), words.begin(), words.end());
    const std::string output = (folder / "output").string();
    run(command, output);
    const cost taken = run(command, output);
    std::string text;
    for (const std::string& word : words) text += word + ' ';
    fmt::print("{:<48} {:>9.3f} {:>9.1f} {:>7}\n", text, taken.seconds, taken.megabytes,
               taken.status);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "store_tunedb_bench TUNEDB [RESULTS]\n");
    return 2;
  }
  const std::int64_t results = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
  std::string name = (std::filesystem::temp_directory_path() / "libtune-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return 1;
  const std::filesystem::path folder = name;
  const std::string path = (folder / "large.db").string();
  // In another process: a command begins with the largest memory of the process that starts it.
  if (::fork() == 0) {
    add_results(path, results);
    add_searches(path, results / 1000);
    std::_Exit(0);
  }
  int status = 0;
  if (::wait(&status) < 0 || status != 0) return 1;
  const std::string report = (folder / "report.html").string();
  const std::vector<std::string> key{"--arg", "rows=77", "--device", "GPU"};
  const auto of_key = [&](std::string command) {
    std::vector<std::string> words{std::move(command), "bench.autotune"};
    words.insert(words.end(), key.begin(), key.end());
    return words;
  };
  measure(argv[1], folder,
          {of_key("explain"),
           of_key("show"),
           of_key("trials"),
           of_key("coverage"),
           {"trials", "bench.autotune"},
           {"watch", "--once"},
           {"list"},
           {"show", "bench.autotune"},
           {"prune", "--orphans", "--dry-run"},
           {"export", (folder / "all.json").string()},
           {"report", report},
           {"check"}});
  std::filesystem::remove_all(folder);
  return 0;
}
