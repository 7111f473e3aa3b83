// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A real PostgreSQL server of a test's own, which nothing but its socket in a temporary folder
// leads to.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <pwd.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tune::testing {

class postgresql_server {
 public:
  /// The folder with initdb and postgres; empty if they are not installed.
  static std::string programs() {
    std::vector<std::filesystem::path> folders;
    std::error_code none;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
      folders.push_back(version.path() / "bin");
    }
    folders.insert(folders.end(), {"/usr/local/bin", "/usr/bin"});
    for (const auto& folder : folders) {
      const auto has = [&](const char* name) { return std::filesystem::exists(folder / name); };
      if (has("initdb") && has("postgres") && has("psql")) return folder.string();
    }
    return {};
  }

  /// The one of this process, made with the first call; null if PostgreSQL is not installed.
  static postgresql_server* shared() {
    static const std::unique_ptr<postgresql_server> server = [] {
      auto made = programs().empty() ? nullptr : std::make_unique<postgresql_server>();
      if (made) made->start();
      return made;
    }();
    return server.get();
  }

  postgresql_server() {
    std::string name = "/tmp/libtune-pg-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    folder_ = name;
    if (::geteuid() == 0) find_user();
    if (is_root_ && ::chown(name.c_str(), user_, group_) != 0) throw std::runtime_error("chown");
    run_as_user(programs() + "/initdb --no-sync -E UTF8 --locale=C -U owner -A trust -D " +
                folder_ + "/data >" + folder_ + "/initdb.log 2>&1");
    std::ofstream(folder_ + "/data/pg_hba.conf")
        << "local all guest scram-sha-256\nlocal all all trust\n";
  }
  ~postgresql_server() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  postgresql_server(const postgresql_server&) = delete;
  postgresql_server& operator=(const postgresql_server&) = delete;

  void start() {
    if (runs()) return;
    process_ = ::fork();
    if (process_ == 0) {
      become_user();
      const std::string program = programs() + "/postgres";
      const std::string data = folder_ + "/data";
      const std::string log = folder_ + "/server.log";
      if (std::freopen(log.c_str(), "a", stderr) == nullptr) ::_exit(1);
      ::execl(program.c_str(), program.c_str(), "-D", data.c_str(), "-k", folder_.c_str(), "-c",
              "listen_addresses=", "-F", static_cast<char*>(nullptr));
      ::_exit(1);
    }
    for (int i = 0; i < 200; ++i) {
      if (try_sql("postgres", "SELECT 1")) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    throw std::runtime_error("the server does not start; see " + folder_);
  }

  /// Ends it at once, without a word to those that are connected.
  void kill() {
    if (!runs()) return;
    ::kill(process_, SIGQUIT);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  bool runs() const { return process_ > 0; }

  /// The URL of a database. @param user  with a password behind a colon
  std::string url(const std::string& database, const std::string& user = "owner") const {
    return "postgresql://" + user + "@/" + database + "?host=" + folder_;
  }

  bool try_sql(const std::string& database, const std::string& statement) const {
    const std::string file = folder_ + "/statement.sql";
    std::ofstream(file) << statement << ";\n";
    const std::string line = "psql -X -q -v ON_ERROR_STOP=1 -h " + folder_ + " -U owner -d " +
                             database + " -f " + file + " >/dev/null 2>>" + folder_ + "/psql.log";
    return std::system((programs() + "/" + line).c_str()) == 0;
  }
  void sql(const std::string& database, const std::string& statement) const {
    if (!try_sql(database, statement)) throw std::runtime_error("cannot run " + statement);
  }

  const std::string& folder() const { return folder_; }

 private:
  void find_user() {
    for (const char* name : {"postgres", "nobody"}) {
      if (const ::passwd* found = ::getpwnam(name)) {
        user_ = found->pw_uid;
        group_ = found->pw_gid;
        is_root_ = true;
        return;
      }
    }
    throw std::runtime_error("PostgreSQL refuses root, and there is no other user");
  }

  void become_user() const {
    if (is_root_ && (::setgid(group_) != 0 || ::setuid(user_) != 0)) ::_exit(1);
  }

  void run_as_user(const std::string& line) const {
    const ::pid_t child = ::fork();
    if (child == 0) {
      become_user();
      ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) throw std::runtime_error(line + " failed");
  }

  std::string folder_;
  ::pid_t process_ = 0;
  bool is_root_ = false;
  ::uid_t user_ = 0;
  ::gid_t group_ = 0;
};

}  // namespace tune::testing
