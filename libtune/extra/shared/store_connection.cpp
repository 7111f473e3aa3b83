// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/shared/store_connection.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <future>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "libtune/base/library_version.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/base/shared_library.hpp"
#include "libtune/store/files/store_url.hpp"

namespace tune::detail {
namespace {

constexpr const char* right_to_read = "ask for the right to read (tunedb share init --reader)";

const sql_driver& load_driver(const std::string& path, const std::string& name) {
  struct loaded {
    std::mutex mutex;
    std::map<std::string, shared_library> libraries;
  };
  static never_destroyed<loaded> all;
  const std::lock_guard lock(all->mutex);
  auto found = all->libraries.find(path);
  if (found == all->libraries.end()) {
    shared_library library(path.c_str());
    if (!library) {
      throw shared_store_error(
          store_fault::unfit,
          fmt::format("the shared store '{}' needs the plug-in '{}', which cannot be loaded: {}",
                      name, path, library.error()));
    }
    found = all->libraries.emplace(path, std::move(library)).first;
  }
  const auto make = found->second.function<const sql_driver* (*)()>("libtune_sql_driver");
  const sql_driver* driver = make != nullptr ? make() : nullptr;
  if (driver == nullptr || driver->version != sql_driver::present_version) {
    throw shared_store_error(
        store_fault::unfit,
        fmt::format("the shared store '{}' needs the plug-in '{}', which is of another libtune: "
                    "install the one of libtune {}",
                    name, path, library_version()));
  }
  return *driver;
}

/// The result of a connection attempt on a separate thread.
struct attempt {
  void* connection = nullptr;
  sql_fault fault{};
};

// The look-up of a host's name has no time limit, so another thread does it. If it finishes too
// late, it closes its connection.
attempt connect_in_time(const sql_driver& driver, const std::string& url,
                        std::chrono::milliseconds wait) {
  struct shared_attempt {
    std::mutex mutex;
    bool given_up = false;
    std::promise<attempt> made;
  };
  const auto shared = std::make_shared<shared_attempt>();
  auto made = shared->made.get_future();
  std::thread([shared, &driver, url, wait] {
    attempt one;
    one.connection = driver.connect(url.c_str(), static_cast<int>(wait.count()), &one.fault);
    const std::lock_guard lock(shared->mutex);
    if (shared->given_up) {
      if (one.connection != nullptr) driver.disconnect(one.connection);
      return;
    }
    shared->made.set_value(one);
  }).detach();
  constexpr std::chrono::milliseconds for_the_thread{200};
  if (made.wait_for(wait + for_the_thread) == std::future_status::timeout) {
    const std::lock_guard lock(shared->mutex);
    if (made.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) {
      shared->given_up = true;
      attempt late;
      std::snprintf(late.fault.text, sizeof late.fault.text,
                    "the host's name was not found within %d ms", static_cast<int>(wait.count()));
      return late;
    }
  }
  return made.get();
}

// The option connect_timeout of a URL, in seconds, which libpq itself does not apply to connections
// that are made step by step. Answers take twice as long, as without it.
shared_store::waits waits_of(const std::string& url, shared_store::waits otherwise) {
  constexpr std::string_view option = "connect_timeout=";
  constexpr int longest = 3600;
  const std::string_view options =
      std::string_view(url).substr(std::min(url.find('?'), url.size()));
  const std::size_t at = options.find(option);
  if (at == std::string_view::npos || (options[at - 1] != '?' && options[at - 1] != '&')) {
    return otherwise;
  }
  int given = 0;
  std::from_chars(options.data() + at + option.size(), options.data() + options.size(), given);
  if (given <= 0) return otherwise;
  const std::chrono::seconds wait(std::min(given, longest));
  return {.connect = wait, .answer = 2 * wait};
}

int parse_number(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

store_connection::store_connection(std::string url, std::string driver, shared_store::waits wait)
    : url_(std::move(url)),
      name_(shown_url(url_)),
      path_(std::move(driver)),
      wait_(waits_of(url_, wait)) {}

void store_connection::use(bool to_write, const char* statement,
                           const std::vector<std::string>& values, const visitor& visit) {
  const auto step = [&] {
    open();
    require_version(to_write);
    return try_run(statement, values, visit);
  };
  const answer made = run_again_if_stale(step);
  if (made.outcome == sql_outcome::done) return;
  fail(made, to_write ? "ask for the right to write, or set LIBTUNE_SHARED_DB_ACCESS=pull"
                      : right_to_read);
}

void store_connection::run(const std::string& statement, const std::vector<std::string>& values,
                           const visitor& visit) {
  const answer made = run_again_if_stale([&] {
    open();
    return try_run(statement.c_str(), values, visit);
  });
  if (made.outcome != sql_outcome::done) fail(made, "ask the owner of the database");
}

void store_connection::refuse(store_fault fault, const std::string& reason,
                              const std::string& remedy) const {
  throw shared_store_error(
      fault, fmt::format("the shared store '{}' cannot be used: {}; {}", name_, reason, remedy));
}

// A server that has restarted since the last call has closed the connection.
template <class Step>
store_connection::answer store_connection::run_again_if_stale(const Step& step) {
  const bool was_open = connection_ != nullptr;
  answer made = step();
  if (made.outcome != sql_outcome::lost) return made;
  close();
  if (!was_open || had_rows_) return made;
  made = step();
  if (made.outcome == sql_outcome::lost) close();
  return made;
}

void store_connection::open() {
  const auto asked = [&] { return "use the shared store '" + name_ + "'"; };
  check_seal(sealed_action::database, asked);
  if (connection_ != nullptr) return;
  driver_ = &load_driver(path_, name_);
  attempt made = connect_in_time(*driver_, url_, wait_.connect);
  if (made.connection == nullptr) fail({sql_outcome::lost, made.fault}, right_to_read);
  connection_ = made.connection;
  version_.reset();
}

void store_connection::close() noexcept {
  if (connection_ != nullptr) driver_->disconnect(connection_);
  connection_ = nullptr;
}

store_connection::answer store_connection::try_run(const char* statement,
                                                   const std::vector<std::string>& values,
                                                   const visitor& visit) {
  std::vector<const char*> texts;
  for (const std::string& one : values) texts.push_back(one.c_str());
  struct receiver {
    const visitor& visit;
    std::exception_ptr failure{};
    bool had_rows = false;
  } to{visit};
  const auto take = [](void* target, int columns, const char* const* row_texts) {
    auto& own = *static_cast<receiver*>(target);
    own.had_rows = true;
    if (!own.visit || own.failure) return;
    try {
      row one;
      for (int i = 0; i < columns; ++i) one.emplace_back(row_texts[i] ? row_texts[i] : "");
      own.visit(one);
    } catch (...) {  // must not pass through the plug-in
      own.failure = std::current_exception();
    }
  };
  answer made;
  made.outcome = driver_->run(connection_, statement, static_cast<int>(texts.size()), texts.data(),
                              static_cast<int>(wait_.answer.count()), take, &to, &made.fault);
  had_rows_ = to.had_rows;
  if (to.failure) std::rethrow_exception(to.failure);
  return made;
}

void store_connection::require_version(bool to_write) {
  if (!version_) read_version();
  const std::string made_by = fmt::format("its tables have version {}, and this libtune knows {}",
                                          *version_, shared_store::present_version);
  if (oldest_reader_ > shared_store::present_version || *version_ < 1) {
    refuse(store_fault::unfit, made_by, "use the libtune that made them, or a later one");
  }
  if (to_write && *version_ != shared_store::present_version) {
    refuse(store_fault::unfit, made_by, "so results are only pulled; a later libtune can push");
  }
}

void store_connection::read_version() {
  std::map<std::string, std::string> marks;
  const answer made = try_run("SELECT name, value FROM libtune.meta", {},
                              [&](const row& one) { marks[one.at(0)] = one.at(1); });
  had_rows_ = false;
  if (made.outcome != sql_outcome::done) fail(made, right_to_read);
  version_ = parse_number(marks["version"]);
  oldest_reader_ = parse_number(marks["oldest_reader"]);
}

void store_connection::fail(const answer& made, const char* right) {
  const std::string_view state = made.fault.state;
  const std::string text = without_password(made.fault.text, url_);
  if (made.outcome == sql_outcome::lost) {
    close();
    throw shared_store_error(store_fault::away,
                             fmt::format("the shared store '{}' is away: {}", name_, text));
  }
  if (state == "42P01" || state == "3F000" || state == "42703") {
    refuse(store_fault::unfit, text, "make its tables with: tunedb share init URL");
  }
  if (state == "42501" || state == "25006") {
    refuse(store_fault::refused, text, right);
  }
  const bool is_of_row = state.starts_with("22") || state.starts_with("23");
  throw shared_store_error(
      is_of_row ? store_fault::row : store_fault::away,
      fmt::format("the shared store '{}' answers: {} ({})", name_, text, state));
}

}  // namespace tune::detail
