// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/shared/shared_store.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "libtune/extra/shared/store_connection.hpp"
#include "libtune/extra/shared/store_texts.hpp"

namespace tune {
namespace {

// Statements of version 1. Each does nothing when repeated.
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
    "ON CONFLICT DO NOTHING",
    // A user with the right to write a row may write all its columns: the server signs it
    // nevertheless.
    "DO $do$ BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgname = 'sign' AND "
    "tgrelid = 'libtune.result'::regclass) THEN "
    "CREATE FUNCTION libtune.sign() RETURNS trigger LANGUAGE plpgsql AS $sign$ BEGIN "
    "NEW.pushed_by := session_user; NEW.pushed_at := CURRENT_TIMESTAMP; RETURN NEW; END $sign$; "
    "CREATE TRIGGER sign BEFORE INSERT OR UPDATE ON libtune.result "
    "FOR EACH ROW EXECUTE FUNCTION libtune.sign(); END IF; END $do$",
    // Later tables of version 1, which a libtune without them does not read.
    "CREATE TABLE IF NOT EXISTS libtune.decision ("
    "number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
    "function text NOT NULL, key text NOT NULL, device text NOT NULL, "
    "arguments text NOT NULL, device_name text NOT NULL, configuration text NOT NULL, "
    "decision text NOT NULL CHECK (decision IN ('promoted', 'withdrawn')), "
    "reason text NOT NULL CHECK (octet_length(reason) <= 65536), "
    "made_by text NOT NULL DEFAULT session_user, made_from text NOT NULL, "
    "made_at timestamp with time zone NOT NULL DEFAULT now())",
    "DO $do$ BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgname = 'sign' AND "
    "tgrelid = 'libtune.decision'::regclass) THEN "
    "CREATE OR REPLACE FUNCTION libtune.sign_decision() RETURNS trigger LANGUAGE plpgsql AS $sign$ "
    "BEGIN "
    "NEW.made_by := session_user; NEW.made_at := CURRENT_TIMESTAMP; RETURN NEW; END $sign$; "
    "CREATE TRIGGER sign BEFORE INSERT ON libtune.decision "
    "FOR EACH ROW EXECUTE FUNCTION libtune.sign_decision(); END IF; END $do$"};

constexpr const char* columns_sql =
    "document, device_name, pushed_by, pushed_from, "
    "to_char(pushed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";

std::string quoted_role(const std::string& role) {
  std::string text = "\"";
  for (const char c : role) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

}  // namespace

shared_store::shared_store(std::string url, std::string driver, waits wait)
    : connection_(
          std::make_unique<detail::store_connection>(std::move(url), std::move(driver), wait)) {}
shared_store::~shared_store() = default;

const std::string& shared_store::name() const noexcept { return connection_->name(); }

void shared_store::init(const std::vector<std::string>& readers,
                        const std::vector<std::string>& writers) {
  connection_->run("SHOW server_encoding", {}, [&](const auto& row) {
    if (row.at(0) == "UTF8") return;
    connection_->refuse(store_fault::unfit, "its encoding is " + row.at(0),
                        "make a database with the encoding UTF8");
  });
  connection_->run("BEGIN");
  try {
    for (const char* statement : create_statements) connection_->run(statement);
    struct grant {
      const std::vector<std::string>& roles;
      const char* results;
      const char* decisions;
    };
    for (const auto& [roles, results, decisions] :
         {grant{readers, "SELECT", "SELECT"},
          grant{writers, "SELECT, INSERT, UPDATE", "SELECT, INSERT"}}) {
      for (const std::string& role : roles) {
        const std::string name = quoted_role(role);
        connection_->run("GRANT USAGE ON SCHEMA libtune TO " + name);
        connection_->run("GRANT SELECT ON libtune.meta TO " + name);
        connection_->run(fmt::format("GRANT {} ON libtune.result TO {}", results, name));
        connection_->run(fmt::format("GRANT {} ON libtune.decision TO {}", decisions, name));
      }
    }
    connection_->run("COMMIT");
  } catch (const shared_store_error& failure) {
    if (failure.fault() != store_fault::away) connection_->run("ROLLBACK");
    throw;
  }
  connection_->forget_version();
}

std::vector<shared_result> shared_store::find(const function_identity& function,
                                              const record_key& key) {
  std::vector<shared_result> found;
  const std::string sql = fmt::format(
      "SELECT {} FROM libtune.result WHERE function = $1 AND key = $2 "
      "ORDER BY device = $3 DESC, pushed_at DESC LIMIT {}",
      columns_sql, most_found);
  connection_->use(false, sql.c_str(), detail::row_key(function, key), [&](const auto& row) {
    found.push_back({row.at(0), row.at(1), row.at(2), row.at(3), row.at(4)});
  });
  return found;
}

// An advisory lock of the session: nothing is written, and every user of the database may take it.
bool shared_store::try_lock(const std::string& name) {
  bool is_taken = false;
  connection_->use(false, "SELECT pg_try_advisory_lock(hashtextextended('libtune ' || $1, 0))",
                   {detail::digest_of(name)},
                   [&](const auto& row) { is_taken = row.at(0) == "t"; });
  return is_taken;
}

void shared_store::unlock(const std::string& name) {
  connection_->use(false, "SELECT pg_advisory_unlock(hashtextextended('libtune ' || $1, 0))",
                   {detail::digest_of(name)});
}

// Several at a time, so that a statement's time excludes the visits.
void shared_store::for_each(const std::function<void(const shared_result&)>& visit) {
  constexpr std::size_t at_once = 64;
  const std::string sql = fmt::format(
      "SELECT {}, function, key, device FROM libtune.result WHERE (function, key, device) > "
      "($1, $2, $3) ORDER BY function, key, device LIMIT {}",
      columns_sql, at_once);
  std::vector<std::string> last(3);
  std::vector<shared_result> some;
  do {
    some.clear();
    connection_->use(false, sql.c_str(), std::vector(last), [&](const auto& row) {
      some.push_back({row.at(0), row.at(1), row.at(2), row.at(3), row.at(4)});
      last = {row.at(5), row.at(6), row.at(7)};
    });
    for (const shared_result& one : some) visit(one);
  } while (some.size() == at_once);
}

push_outcome shared_store::push(const function_content& one) {
  const std::vector<std::string> row = detail::row_of(one);
  const bool by_time = own_name(one.function.name) == one.function.name;
  const std::string sql = fmt::format(
      "INSERT INTO libtune.result AS present ({}) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7::double precision, $8, $9, $10) "
      "ON CONFLICT (function, key, device) DO UPDATE SET score_ns = excluded.score_ns, "
      "tuned_at = excluded.tuned_at, document = excluded.document, pushed_by = session_user, "
      "pushed_from = excluded.pushed_from, pushed_at = now() WHERE {} RETURNING 1",
      detail::result_columns,
      by_time ? "excluded.score_ns < present.score_ns" : "excluded.tuned_at > present.tuned_at");
  bool is_stored = false;
  connection_->use(true, sql.c_str(), row, [&](const auto&) { is_stored = true; });
  return is_stored ? push_outcome::stored : push_outcome::kept;
}

store_state shared_store::state() {
  store_state found;
  connection_->use(false,
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
  found.version = connection_->version();
  return found;
}

std::optional<function_content> shared_content(function_content content) {
  constexpr std::size_t most_trials = 32;
  std::erase_if(content.results, [](const result_content& one) {
    return !one.score_ns() || is_prior(one.device());
  });
  if (content.results.size() != 1) return std::nullopt;
  const auto& values = content.results.front().values;
  // Keeps the last search for the key that has found these values. Imported searches do not name
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
