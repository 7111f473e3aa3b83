// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/shared/shared_store.hpp"
#include "libtune/extra/shared/sql_driver.hpp"

namespace tune::detail {

/// The connection of a shared_store to its server. It is made on demand, and renewed once if it was
/// lost since the last call. Throws shared_store_error; used by one thread at a time.
class store_connection {
 public:
  using row = std::vector<std::string>;
  using visitor = std::function<void(const row&)>;

  store_connection(std::string url, std::string driver, shared_store::waits wait);
  ~store_connection() { close(); }
  store_connection(const store_connection&) = delete;
  store_connection& operator=(const store_connection&) = delete;

  /// The URL for people.
  const std::string& name() const noexcept { return name_; }

  /// Runs a statement on a store after its version has been checked.
  void use(bool to_write, const char* statement, const std::vector<std::string>& values,
           const visitor& visit = {});
  /// Runs a statement on any database.
  void run(const std::string& statement, const std::vector<std::string>& values = {},
           const visitor& visit = {});

  void forget_version() { version_.reset(); }
  int version() const { return version_.value_or(0); }

  [[noreturn]] void refuse(store_fault fault, const std::string& reason,
                           const std::string& remedy) const;

 private:
  struct answer {
    sql_outcome outcome = sql_outcome::done;
    sql_fault fault{};
  };

  template <class Step>
  answer run_again_if_stale(const Step& step);
  void open();
  void close() noexcept;
  answer try_run(const char* statement, const std::vector<std::string>& values,
                 const visitor& visit);
  void require_version(bool to_write);
  void read_version();
  /// @param right  the remedy if this user lacks the right
  [[noreturn]] void fail(const answer& made, const char* right);

  const std::string url_;
  const std::string name_;
  const std::string path_;
  const shared_store::waits wait_;
  const sql_driver* driver_ = nullptr;
  void* connection_ = nullptr;
  bool had_rows_ = false;  // for the last statement: rows must not be passed twice
  std::optional<int> version_;
  int oldest_reader_ = 0;
};

}  // namespace tune::detail
