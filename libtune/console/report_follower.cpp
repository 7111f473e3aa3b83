// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/report_follower.hpp"

#include <cerrno>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/process/spawn.hpp"

namespace tune::detail {
namespace {

namespace fs = std::filesystem;

/// A page, and the functions already sent to its writer.
struct followed_page {
  file_descriptor to_writer{};
  std::set<std::string> functions{};
  bool is_given_up = false;
};

struct followed_pages {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, followed_page> all;  // pages by database and path
};

// The writer leaves this process's session by a second fork, so that no process waits for it: the
// process started here ends at once.
void start_writer(const std::vector<std::string>& arguments,
                  const std::vector<std::string>& variables, const std::string& page,
                  const file_descriptor& socket) noexcept {
  try {
    const ::pid_t id = spawn(arguments.front(), arguments, variables,
                             {.parent = socket.get(), .child = STDIN_FILENO});
    while (::waitpid(id, nullptr, 0) < 0 && errno == EINTR) {
    }
  } catch (const std::exception& failure) {
    warn_once(fmt::format("no report is written to '{}': {}", page, failure.what()));
  }
}

followed_page begin_page(const std::string& database, const std::string& page) {
  followed_page made;
  std::string looked_at;
  std::string program = find_tunedb(looked_at);
  int ends[2];
  if (program.empty() || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    made.is_given_up = true;
    warn_once(
        fmt::format("no report is written to '{}': {}; install tunedb, or add its folder to "
                    "PATH",
                    page, looked_at));
    return made;
  }
  made.to_writer = file_descriptor(ends[0]);
  // The program may change its variables while the thread runs.
  std::thread([page, socket = file_descriptor(ends[1]), variables = environment_of_child(),
               arguments = std::vector<std::string>{program, "--db", database, "report", page,
                                                    "--follow"}] {
    start_writer(arguments, variables, page, socket);
  }).detach();
  return made;
}

}  // namespace

std::string find_tunedb(std::string& looked_at) {
  const found_helper worker = find_helper("libtune-worker");
  if (!worker.path.empty()) {
    const fs::path helpers = fs::path(worker.path).parent_path();
    for (const fs::path& place :
         {helpers / "../../bin/tunedb", helpers / "../tunedb/tunedb", helpers / "tunedb"}) {
      std::string path = place.lexically_normal().string();
      if (::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path)) return path;
      looked_at += path + ", ";
    }
  }
  found_helper named = find_helper("tunedb");
  looked_at += describe_missing("tunedb", named);
  return std::move(named.path);
}

void follow_in_report(const tuning_settings& settings, const function_identity& function) noexcept {
  if (settings.report.empty() || settings.database.empty() || is_sealed()) return;
  static never_destroyed<followed_pages> pages;
  try {
    const std::string page = fs::absolute(settings.report).string();
    const std::lock_guard lock(pages->mutex);
    const auto [found, is_new] = pages->all.try_emplace({settings.database, page});
    if (is_new) found->second = begin_page(settings.database, page);
    followed_page& own = found->second;
    const std::string name = table_name(function);
    if (own.is_given_up || !own.functions.insert(name).second) return;
    const std::string line = name + '\n';
    if (::send(own.to_writer.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
      own.is_given_up = true;
      warn_once(
          fmt::format("the report '{}' is no longer written, because the tunedb that writes it "
                      "has ended",
                      page));
    }
  } catch (const std::exception& failure) {
    warn_once(fmt::format("no report is written to '{}': {}", settings.report, failure.what()));
  }
}

}  // namespace tune::detail
