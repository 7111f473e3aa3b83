// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/shared/shared_store.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <future>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

#include "libtune/base/library_version.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/base/shared_library.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/trial_log.hpp"
#include "libtune/store/maintenance/json_document.hpp"
#include "libtune/store/shared/sql_driver.hpp"

namespace tune {
namespace {

using detail::sql_driver;
using detail::sql_fault;
using detail::sql_outcome;

constexpr std::array<std::string_view, 2> schemes{"postgresql://", "postgres://"};

// Statements of version 1. Each does nothing where it has been done.
constexpr std::array create_statements{
    "CREATE SCHEMA IF NOT EXISTS libtune",
    "CREATE TABLE IF NOT EXISTS libtune.meta (name text PRIMARY KEY, value text NOT NULL)",
    "CREATE TABLE IF NOT EXISTS libtune.result ("
    "function text NOT NULL, key text NOT NULL, device text NOT NULL, "
    "arguments text NOT NULL, device_name text NOT NULL, device_version text NOT NULL, "
    "score_ns double precision NOT NULL CHECK (score_ns > 0 AND score_ns < 'Infinity'), "
    "tuned_at text NOT NULL, "
    "document text NOT NULL CHECK (octet_length(document) <= 8388608), "
    "pushed_by text NOT NULL DEFAULT session_user, pushed_from text NOT NULL, "
    "pushed_at timestamp with time zone NOT NULL DEFAULT now(), "
    "PRIMARY KEY (function, key, device))",
    "INSERT INTO libtune.meta VALUES ('version', '1'), ('oldest_reader', '1') "
    "ON CONFLICT DO NOTHING"};

constexpr const char* columns_sql =
    "document, device_name, pushed_by, pushed_from, "
    "to_char(pushed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";

std::string digest_of(const std::string& text) {
  return detail::to_hex(detail::sha256(std::as_bytes(std::span(text))));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string utf8_or_hex(const std::string& text) {
  const bool fits = detail::is_utf8(text) && text.find('\0') == std::string::npos;
  return fits ? text : detail::to_hex(std::as_bytes(std::span(text)));
}

const sql_driver& load_driver(const std::string& path, const std::string& name) {
  struct loaded {
    std::mutex mutex;
    std::map<std::string, shared_library> libraries;
  };
  static detail::never_destroyed<loaded> all;
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

/// The outcome of an attempt to connect, on a thread of its own.
struct attempt {
  void* connection = nullptr;
  sql_fault fault{};
};

// The look-up of a host's name has no limit of time, so another thread makes it. One that comes
// too late closes what it has opened.
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

/// Names of hosts with ports of digits, as a well-formed URL has them between user and path.
bool is_host_list(std::string_view text) {
  bool in_port = false;
  bool in_brackets = false;
  return std::ranges::all_of(text, [&](char c) {
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == '[' || c == ']') in_brackets = c == '[';
    if (c == ',') in_port = false;
    if (c == ':' && !in_brackets) return !std::exchange(in_port, true);
    if (in_port) return is_digit;
    return is_digit || is_letter || std::string_view(".-_:,[]%").find(c) != std::string_view::npos;
  });
}

bool is_plain_name(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return std::string_view(":@?#&=/ ").find(c) != std::string_view::npos; });
}

std::string quoted_role(const std::string& role) {
  std::string text = "\"";
  for (const char c : role) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

}  // namespace

bool is_store_url(const std::string& text) {
  return std::ranges::any_of(schemes, [&](auto scheme) { return text.starts_with(scheme); });
}

// All that may be a password is left out.
std::string shown_url(const std::string& url) {
  const std::size_t begin = url.find("://");
  if (begin == std::string::npos || !is_store_url(url)) return "(a URL that cannot be read)";
  const std::string scheme = url.substr(0, begin + 3);
  const std::string_view all = std::string_view(url).substr(begin + 3);
  const std::string_view whole = all.substr(0, all.find('?'));
  if (all.size() > whole.size() && all.find('@', whole.size()) != std::string_view::npos &&
      whole.find('@') == std::string_view::npos) {
    return scheme + "...";
  }
  const std::size_t at = whole.rfind('@');
  std::string_view user = at == std::string_view::npos ? "" : whole.substr(0, at);
  const std::string_view place = at == std::string_view::npos ? whole : whole.substr(at + 1);
  user = user.substr(0, user.find(':'));
  const std::size_t slash = std::min(place.find('/'), place.size());
  const std::string_view host = place.substr(0, slash);
  const std::string_view base = place.substr(std::min(slash + 1, place.size()));
  std::string text = scheme;
  if (!user.empty() && is_plain_name(user)) text += std::string(user) + '@';
  text += is_host_list(host) ? std::string(host) : "...";
  if (!base.empty()) text += '/' + (is_plain_name(base) ? std::string(base) : "...");
  return text;
}

class shared_store::implementation {
 public:
  using row = std::vector<std::string>;
  using visitor = std::function<void(const row&)>;

  implementation(std::string url, std::string driver, waits wait)
      : url_(std::move(url)), name_(shown_url(url_)), path_(std::move(driver)), wait_(wait) {}
  ~implementation() { close(); }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// Runs a statement on a store whose version is known to fit, connecting if need be.
  void use(bool to_write, const char* statement, const std::vector<std::string>& values,
           const visitor& visit = {}) {
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

  /// The same of any database.
  void run(const std::string& statement, const std::vector<std::string>& values = {},
           const visitor& visit = {}) {
    const answer made = run_again_if_stale([&] {
      open();
      return try_run(statement.c_str(), values, visit);
    });
    if (made.outcome != sql_outcome::done) fail(made, "ask the owner of the database");
  }

  void forget_version() { version_.reset(); }
  int version() const { return version_.value_or(0); }

  [[noreturn]] void refuse(store_fault fault, const std::string& reason,
                           const std::string& remedy) const {
    throw shared_store_error(
        fault, fmt::format("the shared store '{}' cannot be used: {}; {}", name_, reason, remedy));
  }

 private:
  struct answer {
    sql_outcome outcome = sql_outcome::done;
    sql_fault fault{};
  };
  static constexpr const char* right_to_read =
      "ask for the right to read (tunedb share init --reader)";

  // A server that has been started anew since the last call has closed the connection.
  template <class Step>
  answer run_again_if_stale(const Step& step) {
    const bool was_open = connection_ != nullptr;
    answer made = step();
    if (made.outcome != sql_outcome::lost) return made;
    close();
    if (!was_open || had_rows_) return made;
    made = step();
    if (made.outcome == sql_outcome::lost) close();
    return made;
  }

  void open() {
    const auto asked = [&] { return "use the shared store '" + name_ + "'"; };
    detail::check_seal(sealed_action::database, asked);
    if (connection_ != nullptr) return;
    driver_ = &load_driver(path_, name_);
    attempt made = connect_in_time(*driver_, url_, wait_.connect);
    if (made.connection == nullptr) fail({sql_outcome::lost, made.fault}, right_to_read);
    connection_ = made.connection;
    version_.reset();
  }

  void close() noexcept {
    if (connection_ != nullptr) driver_->disconnect(connection_);
    connection_ = nullptr;
  }

  answer try_run(const char* statement, const std::vector<std::string>& values,
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
      } catch (...) {  // not through the plug-in
        own.failure = std::current_exception();
      }
    };
    answer made;
    made.outcome =
        driver_->run(connection_, statement, static_cast<int>(texts.size()), texts.data(),
                     static_cast<int>(wait_.answer.count()), take, &to, &made.fault);
    had_rows_ = to.had_rows;
    if (to.failure) std::rethrow_exception(to.failure);
    return made;
  }

  void require_version(bool to_write) {
    if (!version_) read_version();
    const std::string made_by = fmt::format("its tables have version {}, and this libtune knows {}",
                                            *version_, present_version);
    if (oldest_reader_ > present_version || *version_ < 1) {
      refuse(store_fault::unfit, made_by, "use the libtune that made them, or a later one");
    }
    if (to_write && *version_ != present_version) {
      refuse(store_fault::unfit, made_by, "so results are only pulled; a later libtune can push");
    }
  }

  void read_version() {
    std::map<std::string, std::string> marks;
    const answer made = try_run("SELECT name, value FROM libtune.meta", {},
                                [&](const row& one) { marks[one.at(0)] = one.at(1); });
    had_rows_ = false;
    if (made.outcome != sql_outcome::done) fail(made, right_to_read);
    version_ = number_in(marks["version"]);
    oldest_reader_ = number_in(marks["oldest_reader"]);
  }

  static int number_in(const std::string& text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }

  /// @param right  the remedy where this user may not do it
  [[noreturn]] void fail(const answer& made, const char* right) {
    const std::string_view state = made.fault.state;
    const std::string text = without_secrets(made.fault.text);
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

  // No message should have the password; this makes sure of it.
  std::string without_secrets(std::string text) const {
    const std::size_t begin = url_.find("://") + 3;
    const std::size_t at = url_.rfind('@');
    if (at == std::string::npos || at < begin) return text;
    const std::size_t colon = url_.find(':', begin);
    if (colon == std::string::npos || colon > at) return text;
    const std::string password = url_.substr(colon + 1, at - colon - 1);
    for (std::size_t found = 0;
         !password.empty() && (found = text.find(password, found)) != std::string::npos;) {
      text.replace(found, password.size(), "...");
      found += 3;
    }
    return text;
  }

  const std::string url_;
  const std::string name_;
  const std::string path_;
  const waits wait_;
  const sql_driver* driver_ = nullptr;
  void* connection_ = nullptr;
  bool had_rows_ = false;  // of the last statement: they are not handed over twice
  std::optional<int> version_;
  int oldest_reader_ = 0;
};

shared_store::shared_store(std::string url, std::string driver, waits wait)
    : impl_(std::make_unique<implementation>(std::move(url), std::move(driver), wait)) {}
shared_store::~shared_store() = default;

const std::string& shared_store::name() const noexcept { return impl_->name(); }

void shared_store::init(const std::vector<std::string>& readers,
                        const std::vector<std::string>& writers) {
  impl_->run("SHOW server_encoding", {}, [&](const auto& row) {
    if (row.at(0) == "UTF8") return;
    impl_->refuse(store_fault::unfit, "its encoding is " + row.at(0),
                  "make a database with the encoding UTF8");
  });
  impl_->run("BEGIN");
  try {
    for (const char* statement : create_statements) impl_->run(statement);
    for (const auto& [roles, rights] :
         {std::pair(&readers, "SELECT"), std::pair(&writers, "SELECT, INSERT, UPDATE")}) {
      for (const std::string& role : *roles) {
        const std::string name = quoted_role(role);
        impl_->run("GRANT USAGE ON SCHEMA libtune TO " + name);
        impl_->run("GRANT SELECT ON libtune.meta TO " + name);
        impl_->run(fmt::format("GRANT {} ON libtune.result TO {}", rights, name));
      }
    }
    impl_->run("COMMIT");
  } catch (const shared_store_error& failure) {
    if (failure.fault() != store_fault::away) impl_->run("ROLLBACK");
    throw;
  }
  impl_->forget_version();
}

std::vector<shared_result> shared_store::find(const function_identity& function,
                                              const record_key& key) {
  std::vector<shared_result> found;
  const std::string sql = fmt::format(
      "SELECT {} FROM libtune.result WHERE function = $1 AND key = $2 "
      "ORDER BY device = $3 DESC, pushed_at DESC LIMIT {}",
      columns_sql, most_found);
  impl_->use(false, sql.c_str(),
             {table_name(function), digest_of(detail::canonical_arguments(key.arguments)),
              digest_of(canonical_text(key.device))},
             [&](const auto& row) {
               found.push_back({row.at(0), row.at(1), row.at(2), row.at(3), row.at(4)});
             });
  return found;
}

void shared_store::for_each(const std::function<void(const shared_result&)>& visit) {
  const std::string sql =
      fmt::format("SELECT {} FROM libtune.result ORDER BY function, key, device", columns_sql);
  impl_->use(false, sql.c_str(), {}, [&](const auto& row) {
    visit({row.at(0), row.at(1), row.at(2), row.at(3), row.at(4)});
  });
}

push_outcome shared_store::push(const function_content& one) {
  if (one.results.size() != 1 || !one.results.front().score_ns()) {
    throw argument_error("one result with its time is pushed at once");
  }
  const result_content& result = one.results.front();
  const device_identity device = result.device();
  const std::string document = to_json_document({.functions = {one}});
  if (document.size() > most_bytes) {
    throw shared_store_error(store_fault::row,
                             fmt::format("a result of '{}' has {} bytes with its trials, and a "
                                         "shared store takes {} at most",
                                         one.function.name, document.size(), most_bytes));
  }
  const bool by_time = own_name(one.function.name) == one.function.name;
  const std::string sql = fmt::format(
      "INSERT INTO libtune.result AS present (function, key, device, arguments, device_name, "
      "device_version, score_ns, tuned_at, document, pushed_from) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7::double precision, $8, $9, $10) "
      "ON CONFLICT (function, key, device) DO UPDATE SET score_ns = excluded.score_ns, "
      "tuned_at = excluded.tuned_at, document = excluded.document, pushed_by = session_user, "
      "pushed_from = excluded.pushed_from, pushed_at = now() WHERE {} RETURNING 1",
      by_time ? "excluded.score_ns < present.score_ns" : "excluded.tuned_at > present.tuned_at");
  bool is_stored = false;
  impl_->use(true, sql.c_str(),
             {table_name(one.function), digest_of(detail::canonical_arguments(result.arguments)),
              digest_of(canonical_text(device)), utf8_or_hex(to_string(result.arguments)),
              utf8_or_hex(device.name), utf8_or_hex(device.driver_version),
              fmt::format("{}", *result.score_ns()), text_of(result.columns, "tuned_at"), document,
              utf8_or_hex(host_name())},
             [&](const auto&) { is_stored = true; });
  return is_stored ? push_outcome::stored : push_outcome::kept;
}

store_state shared_store::state() {
  store_state found;
  impl_->use(false,
             "SELECT count(*), count(DISTINCT function), current_user, "
             "has_table_privilege('libtune.result', 'INSERT') AND "
             "has_table_privilege('libtune.result', 'UPDATE') AND "
             "NOT pg_is_in_recovery(), current_setting('server_version') FROM libtune.result",
             {}, [&](const auto& row) {
               found.results = std::stoull(row.at(0));
               found.functions = std::stoull(row.at(1));
               found.user = row.at(2);
               found.may_push = row.at(3) == "t";
               found.server = "PostgreSQL " + row.at(4);
             });
  found.version = impl_->version();
  return found;
}

std::optional<function_content> shared_content(function_content content) {
  constexpr std::size_t most_trials = 32;
  std::erase_if(content.results, [](const result_content& one) {
    return !one.score_ns() || is_prior(one.device());
  });
  if (content.results.size() != 1) return std::nullopt;
  const auto& values = content.results.front().values;
  // Of the searches for the key the last one that has found these values. Imported ones do not name
  // the libtune that made them.
  std::erase_if(content.searches, [&](const search_content& search) {
    if (text_of(search.columns, "library_version").empty()) return true;
    return std::ranges::none_of(search.trials, [&](const trial_content& trial) {
      return trial.score_ns() && trial.configuration == values;
    });
  });
  if (content.searches.empty()) return std::nullopt;
  std::ranges::sort(content.searches, {}, &search_content::id);
  if (content.searches.size() > 1) {
    content.searches.erase(content.searches.begin(), content.searches.end() - 1);
  }
  for (search_content& search : content.searches) {
    std::vector<double> times;
    for (const trial_content& trial : search.trials) {
      if (const auto score = trial.score_ns()) times.push_back(*score);
    }
    if (search.trials.size() <= most_trials) continue;
    std::ranges::sort(times);
    const double limit = times[std::min(times.size(), most_trials) - 1];
    std::erase_if(search.trials, [&](const trial_content& trial) {
      const auto score = trial.score_ns();
      return !score || (*score > limit && trial.configuration != values);
    });
  }
  return content;
}

}  // namespace tune
