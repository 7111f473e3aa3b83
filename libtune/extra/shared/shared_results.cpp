// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/shared/shared_results.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/files/store_url.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"

namespace tune {
namespace {

constexpr const char* driver_name = "libtune_postgresql.so";

// The longest wait of a missed lookup for a thread that calls the store.
constexpr std::chrono::milliseconds wait_for_threads{2000};

}  // namespace

std::string find_store_driver(const std::string& url) {
  detail::found_helper found = detail::find_helper(driver_name);
  if (!found.path.empty()) return std::move(found.path);
  throw shared_store_error(
      store_fault::unfit,
      fmt::format("the shared store '{}' cannot be used: {}; install libtune's plug-in for "
                  "PostgreSQL, which is built where libpq-dev is installed",
                  shown_url(url), detail::describe_missing(driver_name, found)));
}

parsed_results parse_shared(const std::string& store, const std::vector<shared_result>& found,
                            const std::function<void(const std::string&)>& bad,
                            const function_identity* function, const record_key* key) {
  parsed_results all;
  for (const shared_result& one : found) {
    try {
      database_content content = from_json_document(one.document);
      const bool is_one = content.functions.size() == 1 &&
                          content.functions.front().results.size() == 1 &&
                          content.functions.front().results.front().score_ns();
      if (!is_one) throw argument_error("it does not hold exactly one measured result");
      function_content& own = content.functions.front();
      if (function != nullptr && own.function != *function) {
        throw argument_error("its function '" + table_name(own.function) +
                             "' has other fields than the one here, or another name; raise the "
                             "version of a function whose fields change");
      }
      if (key != nullptr && own.results.front().arguments != key->arguments) {
        throw argument_error("it is for another key");
      }
      const result_content& result = own.results.front();
      all.sources.push_back({.function = own.function,
                             .key = {result.arguments, result.device()},
                             .source = {.store = store,
                                        .pushed_by = one.pushed_by,
                                        .pushed_from = one.pushed_from,
                                        .pushed_at = one.pushed_at}});
      all.content.functions.push_back(std::move(own));
    } catch (const argument_error& fault) {
      bad(
          fmt::format("a result of device '{}' that {} has pushed from '{}' at {} is skipped: "
                      "{}",
                      one.device, one.pushed_by, one.pushed_from, one.pushed_at, fault.what()));
    }
  }
  return all;
}

push_report push_all(shared_store& store, const push_queue& queue,
                     const std::function<void(const std::string&)>& bad) {
  push_report report;
  const std::vector<std::string> names = queue.names();
  for (const std::string& name : names) {
    try {
      const std::string text = queue.read(name);
      if (!text.empty()) {
        const database_content content = from_json_document(text);
        if (content.functions.size() != 1) {
          throw argument_error("it does not hold exactly one function");
        }
        ++(store.push(content.functions.front()) == push_outcome::stored ? report.stored
                                                                         : report.kept);
      }
    } catch (const argument_error& fault) {
      bad(fmt::format("'{}/{}' is no result to push: {}", queue.path(), name, fault.what()));
      ++report.dropped;
    } catch (const shared_store_error& failure) {
      if (failure.fault() != store_fault::row) throw;
      bad(failure.what());
      ++report.dropped;
    }
    queue.remove(name);
  }
  return report;
}

std::shared_ptr<shared_results> shared_results::of(const tuning_settings& settings) {
  if (settings.shared_store.empty() || settings.database.empty()) return nullptr;
  struct known_stores {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<shared_results>> all;
  };
  static detail::never_destroyed<known_stores> known;
  const std::string name = fmt::format("{}\n{}\n{}", settings.shared_store, settings.database,
                                       settings.push_results ? "push" : "pull");
  const std::lock_guard lock(known->mutex);
  auto& found = known->all[name];
  if (!found) {
    found = std::make_shared<shared_results>(settings.shared_store, settings.database,
                                             settings.push_results);
  }
  return found;
}

shared_results::shared_results(std::string url, const std::string& database, bool may_push)
    : database_(database), may_push_(may_push), queue_(push_queue::path_beside(database)) {
  try {
    std::string driver = find_store_driver(url);
    store_ =
        std::make_unique<shared_store>(std::move(url), std::move(driver), shared_store::waits{});
  } catch (const shared_store_error& missing) {
    unusable_ = missing.what();
  }
}

bool shared_results::rests() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::steady_clock::now() < rests_until_;
}

void shared_results::keep_away(const shared_store_error& failure) {
  const bool is_away = failure.fault() == store_fault::away;
  warn_once(is_away ? fmt::format("{}; it is not used for {} s, and lookups use the local "
                                  "databases alone",
                                  failure.what(), rest.count())
                    : failure.what());
  const std::lock_guard lock(mutex_);
  rests_until_ = is_away ? std::chrono::steady_clock::now() + rest
                         : std::chrono::steady_clock::time_point::max();
}

shared_results::pulled shared_results::pull(const function_identity& function,
                                            const record_key& key) noexcept {
  pulled made;
  if (is_sealed()) return made;
  try {
    if (!store_) {
      warn_once(unusable_);
      return made;
    }
    const std::string name = search_name(function, key);
    {
      const std::lock_guard lock(mutex_);
      if (asked_.contains(name)) return made;
    }
    std::vector<shared_result> found;
    {
      const std::unique_lock turn(store_mutex_, wait_for_threads);
      if (!turn || rests()) return made;
      found = store_->find(function, key);
    }
    {
      const std::lock_guard lock(mutex_);
      asked_.insert(name);
    }
    const auto warn = [&](const std::string& reason) {
      warn_once(fmt::format("shared store '{}': {}", store_->name(), reason));
    };
    const auto [content, sources] = parse_shared(store_->name(), found, warn, &function, &key);
    if (content.functions.empty()) return made;
    try {
      const merge_report report = merge_content(pulled_database_of(database_), content);
      for (const std::string& reason : report.reasons) warn("a result is skipped: " + reason);
      note_sources(pulled_database_of(database_), sources);
      made.any = report.results_added + report.results_replaced + report.results_kept > 0;
    } catch (const database_error& failure) {
      detail::warn_of_failure(failure);
      for (const function_content& one : content.functions) {
        const result_content& result = one.results.front();
        if (result.device() == key.device) made.unstored = result.values;
      }
    }
    log(log_level::info,
        fmt::format("{} results for {} of '{}' came from the shared store '{}', the first pushed "
                    "by {} from '{}' at {}",
                    content.functions.size(), to_string(key.arguments), function.name,
                    store_->name(), found.front().pushed_by, found.front().pushed_from,
                    found.front().pushed_at));
  } catch (const shared_store_error& failure) {
    keep_away(failure);
  } catch (const std::exception& failure) {
    warn_once(fmt::format("the shared store is not asked: {}", failure.what()));
  }
  return made;
}

class shared_results::store_right final : public search_right {
 public:
  store_right(shared_results& store, std::string name) : store_(store), name_(std::move(name)) {}
  ~store_right() override { store_.give_back(name_); }
  store_right(const store_right&) = delete;
  store_right& operator=(const store_right&) = delete;

 private:
  shared_results& store_;
  std::string name_;
};

/// Empty if the store cannot be asked.
std::optional<bool> shared_results::try_claim(const std::string& name) {
  try {
    const std::unique_lock turn(store_mutex_, wait_for_threads);
    if (!turn || rests()) return std::nullopt;
    return store_->try_lock(name);
  } catch (const shared_store_error& failure) {
    keep_away(failure);
  } catch (const std::exception& failure) {
    warn_once(fmt::format("the shared store is not asked: {}", failure.what()));
  }
  return std::nullopt;
}

void shared_results::give_back(const std::string& name) noexcept {
  try {
    const std::lock_guard turn(store_mutex_);
    if (!rests()) store_->unlock(name);
  } catch (const shared_store_error& failure) {
    keep_away(failure);
  } catch (const std::exception& failure) {
    warn_once(fmt::format("the shared store is not used: {}", failure.what()));
  }
}

shared_results::claimed shared_results::claim(const function_identity& function,
                                              const record_key& key,
                                              std::chrono::milliseconds patience,
                                              const wait_look& look) {
  constexpr std::chrono::milliseconds between_tries{100};
  if (!may_push_ || !store_ || is_sealed()) return {};
  const std::string name = search_name(function, key);
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const std::optional<bool> is_mine = try_claim(name);
    if (!is_mine) return {};
    if (*is_mine) break;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= patience) return {.is_late = true};
    look(waited);
    std::this_thread::sleep_for(between_tries);
  }
  claimed made{.right = std::make_unique<store_right>(*this, name)};
  const std::lock_guard lock(mutex_);
  asked_.erase(name);
  return made;
}

void shared_results::adopt(const function_identity& function, const record_key& key) noexcept {
  pull(function, key);
  if (is_sealed()) return;
  try {
    database_reader pulled(pulled_database_of(database_), database_access::read_only);
    if (!pulled.has_tables()) return;
    function_content found = pulled.read_key(function, key);
    if (!found.results.empty()) merge_content(database_, {.functions = {std::move(found)}});
  } catch (const database_error& failure) {
    detail::warn_of_failure(failure);
  } catch (const std::exception& failure) {
    warn_once(fmt::format("a result that was pulled is not used: {}", failure.what()));
  }
}

void shared_results::push(const function_identity& function, const record_key& key,
                          bool only_queue) noexcept {
  if (!may_push_ || is_sealed()) return;
  try {
    if (!store_) {
      warn_once(unusable_);
      return;
    }
    const auto own = shared_content(
        database_reader(database_, database_access::read_only).read_key(function, key));
    if (!own) return;
    if (!queue_.add(to_json_document({.functions = {*own}}))) {
      warn_once(
          fmt::format("{} results wait in '{}' to be pushed to the shared store '{}'; no "
                      "more are kept there, and 'tunedb share push' pushes all",
                      push_queue::most, queue_.path(), store_->name()));
    }
    if (!only_queue) drain();
  } catch (const shared_store_error& failure) {
    keep_away(failure);
  } catch (const database_error& failure) {
    detail::warn_of_failure(failure);
  } catch (const std::exception& failure) {
    warn_once(fmt::format("a result is not pushed: {}", failure.what()));
  }
}

void shared_results::drain() {
  {
    const std::lock_guard lock(mutex_);
    if (is_refused_) return;
  }
  const std::unique_lock turn(store_mutex_, wait_for_threads);
  if (!turn || rests()) return;
  try {
    push_all(*store_, queue_, [](const std::string& reason) { warn_once(reason); });
  } catch (const shared_store_error& failure) {
    if (failure.fault() == store_fault::away) throw;
    // Reading may still work after a failed write.
    warn_once(failure.what());
    const std::lock_guard lock(mutex_);
    is_refused_ = true;
  }
}

}  // namespace tune
