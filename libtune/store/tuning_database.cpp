// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/tuning_database.hpp"

#include <SQLiteCpp/Exception.h>
#include <map>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/fork_guard.hpp"
#include "libtune/base/log.hpp"
#include "libtune/store/connection.hpp"
#include "libtune/store/database_failure.hpp"
#include "libtune/store/database_file.hpp"
#include "libtune/store/database_lock.hpp"
#include "libtune/store/failed_trials.hpp"
#include "libtune/store/field_check.hpp"
#include "libtune/store/function_table.hpp"
#include "libtune/store/nearest.hpp"
#include "libtune/store/quarantine.hpp"
#include "libtune/store/record_memory.hpp"
#include "libtune/store/schema.hpp"
#include "libtune/store/trial_log.hpp"

namespace tune {
namespace {

using detail::connection;
using detail::fork_guard;
using detail::function_table;
using detail::write_transaction;

// Nobody waits longer for what a lookup reads, whatever is in the file.
constexpr std::chrono::milliseconds longest_lookup{1000};

std::vector<record> nearest_records(function_table& table, const record_key& key,
                                    std::size_t most) {
  const std::vector<device_identity> devices = table.devices(key.arguments);
  std::vector<record> records;
  for (nearest_match& match : rank_nearest(devices, key.device)) {
    if (records.size() == most) break;
    std::optional<record> found = table.find(key.arguments, devices[match.index]);
    if (!found) continue;
    if (match.step != match_step::none) found->grade = match_grade::nearest;
    found->step = match.step;
    found->distance = match.distance;
    found->relaxed = std::move(match.relaxed);
    records.push_back(*std::move(found));
  }
  return records;
}

std::optional<record> find_record(function_table& table, const record_key& key, match_mode mode) {
  std::optional<record> found = table.find(key.arguments, key.device);
  if (found || mode == match_mode::exact) return found;
  std::vector<record> nearest = nearest_records(table, key, 1);
  if (nearest.empty()) return std::nullopt;
  return std::move(nearest.front());
}

void check_request(const function_identity& function, const record_key& key) {
  static_cast<void>(table_name(function));  // for its checks, before anything is opened
  detail::check_key(function.key_fields, key.arguments, function.name);
}

void check_result(const function_identity& function, const record_key& key,
                  const std::vector<named_value>& values, std::optional<double> score_ns) {
  check_request(function, key);
  detail::check_fields(function.value_fields, values, function.name);
  if (score_ns) detail::check_score(*score_ns);
  check_field_names(function);
}

void check_trial(const stored_trial& trial) {
  if (trial.score_ns) detail::check_score(*trial.score_ns);
  for (const double sample : trial.samples_ns) detail::check_score(sample);
}

}  // namespace

class tuning_database::implementation {
 public:
  implementation(const std::string& path, database_waits waits, database_access access)
      : path_(detail::absolute_path(path)), waits_(waits), access_(access) {}
  ~implementation() { leave_to_parent(); }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;

  const std::string& path() const noexcept { return path_; }
  const database_waits& waits() const noexcept { return waits_; }

  /// Runs a step alone and turns what SQLite reports into a database_error.
  /// @param verb, subject  what the step attempts, for that error
  template <class Step>
  auto attempt(std::string_view verb, std::string_view subject, Step step) {
    const fork_guard no_fork;
    const std::lock_guard lock(mutex_);
    leave_to_parent();
    try {
      return step();
    } catch (const SQLite::Exception& failure) {
      damage_is_known_ = damage_is_known_ || detail::is_damage(failure);
      const std::string what = std::string(verb) + " '" + std::string(subject) + "'";
      throw detail::database_failure(path_, what, failure);
    }
  }

  /// The same for a step that writes. A damaged file is moved aside and the step made again, on a
  /// new one.
  template <class Step>
  void attempt_to_write(std::string_view verb, std::string_view subject, Step step) {
    attempt(verb, subject, [&] {
      try {
        write_in_place(step);
      } catch (const SQLite::Exception& failure) {
        if (!detail::is_damage(failure)) throw;
        set_aside(failure.what());
        write_in_place(step);
      }
    });
  }

  /// The database if it has anything to read, else null.
  connection* open_for_reading() { return open_for_reading(waits_.read); }
  /// @param wait  for others, while opening
  connection* open_for_reading(std::chrono::milliseconds wait) {
    close_if_moved();
    if (!connection_) {
      if (access_ != database_access::immutable && !detail::is_there(path_)) return nullptr;
      connection_ = std::make_unique<connection>(path_, waits_.read, wait, access_);
    }
    const detail::scoped_wait while_opening(*connection_, wait);
    return connection_->is_ready() ? connection_.get() : nullptr;
  }

  connection& open_for_writing() {
    if (!connection_) {
      connection_ = std::make_unique<connection>(path_, waits_.read, waits_.write);
    }
    return *connection_;
  }

  /// The function's table, checked once for each connection; null if there is none yet.
  function_table* find_table(connection& source, const function_identity& function) {
    const std::string name = table_name(function);
    const auto known = tables_.find(name);
    if (known != tables_.end() && known->second->function() == function) {
      return known->second.get();
    }
    std::unique_ptr<function_table> opened = function_table::open(source, function);
    if (!opened) return nullptr;
    return (tables_[name] = std::move(opened)).get();
  }

  /// Runs read(table) alone, if the function has a table and others do not hold the database.
  template <class Read>
  void read_table(const function_identity& function, Read read) {
    attempt("look up", function.name, [&] {
      try {
        connection* source = open_for_reading();
        function_table* table = source ? find_table(*source, function) : nullptr;
        if (table == nullptr) return;
        const detail::work_limit limit(*source, longest_lookup);
        read(*table);
      } catch (const SQLite::Exception& failure) {
        if (!detail::is_busy(failure)) throw;
        log(log_level::debug, "tuning database '" + path_ + "': busy, so '" + function.name +
                                  "' counts as not found");
      }
    });
  }

  /// Runs write(connection, table) in a transaction that also makes the table if need be.
  template <class Write>
  void write_to_table(const function_identity& function, Write write) {
    connection& target = open_for_writing();
    write_transaction transaction(target, waits_.write);
    function_table* table = find_table(target, function);
    std::unique_ptr<function_table> created;
    if (table == nullptr) {
      created = function_table::create(target, function);
      table = created.get();
    }
    write(target, *table);
    transaction.commit();
    if (created) tables_[table_name(function)] = std::move(created);
  }

  /// Runs write(connection) in a transaction, for a search that the database has to have.
  template <class Write>
  void write_to_search(search_id search, Write write) {
    connection& target = open_for_writing();
    write_transaction transaction(target, waits_.write);
    if (!detail::has_search(target, search)) {
      throw detail::database_failure(
          path_, "add to search " + std::to_string(static_cast<std::int64_t>(search)),
          "the database has no such search", "begin another search");
    }
    write(target);
    transaction.commit();
  }

  /// What read(connection) returns; an empty one if there is nothing of the function to read.
  template <class Read>
  auto read_searches(const function_identity& function, Read read) {
    return attempt("read the searches of", function.name, [&]() -> decltype(read(*connection_)) {
      connection* source = open_for_reading();
      if (source == nullptr) return {};
      const detail::scoped_wait wait(*source, waits_.write);
      if (!find_table(*source, function)) return {};
      return read(*source);
    });
  }

 private:
  template <class Step>
  void write_in_place(Step& step) {
    if (access_ != database_access::read_write) {
      throw detail::database_failure(path_, "write to it", "it was opened for reading alone",
                                     "store results in another database");
    }
    close_if_moved();
    if (!connection_) detail::create_private_file(path_);  // with the folder, for the lock's file
    const detail::database_lock lock(path_, detail::database_lock::kind::shared, waits_.write);
    close_if_moved();
    if (!connection_) detail::create_private_file(path_);  // it may have been moved meanwhile
    step();
  }

  void close() {
    tables_.clear();
    connection_.reset();
  }

  void close_if_moved() {
    if (connection_ && !connection_->is_in_place()) close();
  }

  // SQLite forbids a child even to close what its parent opened. So the child never frees it.
  void leave_to_parent() noexcept {
    const ::pid_t process = ::getpid();
    if (std::exchange(process_, process) == process) return;
    for (auto& [name, table] : tables_) static_cast<void>(table.release());
    static_cast<void>(connection_.release());
    tables_.clear();
  }

  void set_aside(const std::string& reason) {
    close();
    const auto aside = detail::set_aside_if_damaged(path_, waits_.write);
    if (!aside) return;  // another process has, or the next attempt says why it cannot be used
    log(damage_is_known_ ? log_level::info : log_level::warning,
        "tuning database '" + path_ + "': it is damaged (" + reason + "), was moved to '" + *aside +
            "' and is started anew");
    damage_is_known_ = false;
  }

  const std::string path_;
  const database_waits waits_;
  bool damage_is_known_ = false;  // to the caller, who was told with an error
  const database_access access_;
  std::mutex mutex_;
  ::pid_t process_ = ::getpid();
  std::unique_ptr<connection> connection_;
  std::map<std::string, std::unique_ptr<function_table>> tables_;  // after what they refer to
};

tuning_database::tuning_database(const std::string& path, database_waits waits,
                                 database_access access)
    : impl_(std::make_unique<implementation>(path, waits, access)) {}

tuning_database::~tuning_database() = default;
tuning_database::tuning_database(tuning_database&&) noexcept = default;
tuning_database& tuning_database::operator=(tuning_database&&) noexcept = default;

const std::string& tuning_database::path() const noexcept { return impl_->path(); }

std::optional<record> tuning_database::find(const function_identity& function,
                                            const record_key& key, match_mode mode) {
  check_request(function, key);
  std::optional<record> found;
  impl_->read_table(function,
                    [&](function_table& table) { found = find_record(table, key, mode); });
  return found;
}

std::vector<record> tuning_database::find_nearest(const function_identity& function,
                                                  const record_key& key, std::size_t most) {
  check_request(function, key);
  std::vector<record> found;
  impl_->read_table(function,
                    [&](function_table& table) { found = nearest_records(table, key, most); });
  return found;
}

std::optional<record> tuning_database::find_patiently(const function_identity& function,
                                                      const record_key& key, match_mode mode) {
  check_request(function, key);
  return impl_->attempt("look up", function.name, [&]() -> std::optional<record> {
    connection* source = impl_->open_for_reading(impl_->waits().write);
    if (source == nullptr) return std::nullopt;
    const detail::scoped_wait wait(*source, impl_->waits().write);
    function_table* table = impl_->find_table(*source, function);
    const detail::work_limit limit(*source, impl_->waits().write);
    return table ? find_record(*table, key, mode) : std::nullopt;
  });
}

void tuning_database::store(const function_identity& function, const record_key& key,
                            const std::vector<named_value>& values,
                            std::optional<double> score_ns) {
  check_result(function, key, values, score_ns);
  impl_->attempt_to_write("store the result of", function.name, [&] {
    impl_->write_to_table(
        function, [&](connection&, function_table& table) { table.store(key, values, score_ns); });
  });
  record_memory::shared().forget(function, key.arguments);
}

record tuning_database::store_first(const function_identity& function, const record_key& key,
                                    const std::vector<named_value>& values,
                                    std::optional<double> score_ns) {
  check_result(function, key, values, score_ns);
  record kept{
      .values = values, .device = key.device, .score_ns = score_ns, .database = impl_->path()};
  impl_->attempt_to_write("store the result of", function.name, [&] {
    impl_->write_to_table(function, [&](connection&, function_table& table) {
      if (auto first = table.find(key.arguments, key.device)) {
        kept = *std::move(first);
      } else {
        table.store(key, values, score_ns);
      }
    });
  });
  record_memory::shared().forget(function, key.arguments);
  return kept;
}

search_id tuning_database::begin_search(const function_identity& function, const record_key& key,
                                        const search_identity& identity) {
  check_request(function, key);
  check_field_names(function);
  search_id search{};
  impl_->attempt_to_write("store a search of", function.name, [&] {
    impl_->write_to_table(function, [&](connection& target, function_table&) {
      search = detail::insert_search(target, function, key, identity);
    });
  });
  return search;
}

void tuning_database::add_trial(search_id search, const stored_trial& trial) {
  check_trial(trial);
  impl_->attempt_to_write("store the trial", to_string(trial.configuration), [&] {
    impl_->write_to_search(
        search, [&](connection& target) { detail::insert_trial(target, search, trial); });
  });
}

void tuning_database::add_trials(search_id search, std::span<const stored_trial> trials,
                                 std::span<const stored_trial> replacing) {
  for (const stored_trial& trial : trials) check_trial(trial);
  for (const stored_trial& trial : replacing) check_trial(trial);
  const std::size_t count = trials.size() + replacing.size();
  impl_->attempt_to_write("store so many trials:", std::to_string(count), [&] {
    impl_->write_to_search(search, [&](connection& target) {
      for (const stored_trial& trial : trials) detail::insert_trial(target, search, trial);
      for (const stored_trial& trial : replacing) detail::replace_trial(target, search, trial);
    });
  });
}

void tuning_database::finish_search(search_id search, const std::string& result) {
  impl_->attempt_to_write("store the end of a search, with the result", result, [&] {
    impl_->write_to_search(search,
                           [&](connection& target) { detail::end_search(target, search, result); });
  });
}

std::optional<stored_search> tuning_database::unfinished_search(const function_identity& function,
                                                                const record_key& key, int stage) {
  check_request(function, key);
  return impl_->read_searches(function, [&](connection& source) -> std::optional<stored_search> {
    auto search = detail::read_search_result(source, function, key, stage);
    if (!search || (search->finished_at && search->result != stopped_search)) return std::nullopt;
    search->trials = detail::read_trials(source, search->id);
    return search;
  });
}

std::vector<stored_trial> tuning_database::failed_trials(const function_identity& function,
                                                         const record_key& key,
                                                         const search_identity& identity,
                                                         const std::string& outcome) {
  check_request(function, key);
  return impl_->read_searches(function, [&](connection& source) {
    return detail::read_failed_trials(source, function, key, identity, outcome);
  });
}

std::optional<stored_search> tuning_database::latest_search(const function_identity& function,
                                                            const record_key& key) {
  check_request(function, key);
  return impl_->read_searches(function, [&](connection& source) {
    return detail::read_latest_search(source, function, key);
  });
}

std::optional<stored_search> tuning_database::latest_search_result(
    const function_identity& function, const record_key& key) {
  check_request(function, key);
  return impl_->read_searches(function, [&](connection& source) {
    return detail::read_search_result(source, function, key);
  });
}

std::optional<result_origin> tuning_database::origin(const function_identity& function,
                                                     const record_key& key,
                                                     const std::vector<named_value>& values) {
  check_request(function, key);
  return impl_->read_searches(function, [&](connection& source) {
    return detail::read_origin(source, function, key, values);
  });
}

std::vector<stored_trial> tuning_database::trials(const function_identity& function,
                                                  const record_key& key) {
  std::optional<stored_search> search = latest_search(function, key);
  return search ? std::move(search->trials) : std::vector<stored_trial>();
}

}  // namespace tune
