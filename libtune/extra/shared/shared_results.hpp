// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libtune/base/timed_mutex.hpp"
#include "libtune/extra/shared/push_queue.hpp"
#include "libtune/extra/shared/result_provenance.hpp"
#include "libtune/extra/shared/shared_store.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {

/// The numbers of documents that were pushed to a shared store.
struct push_report {
  std::size_t stored = 0;
  std::size_t kept = 0;     ///< the store has an equal or better one
  std::size_t left = 0;     ///< could not be pushed, and stay in the queue
  std::size_t dropped = 0;  ///< invalid for a store
};

/// Pulls results that a database lacks from a shared store, into a database beside it that is a
/// layer of a lookup, and pushes new results. An unusable store causes one warning and is not used
/// for a while; it never causes an exception.
///
/// A process has one object for each store and database. Thread-safe; during a call of the server
/// it holds no lock that a lookup needs.
class shared_results final : public detail::result_source {
 public:
  /// The time without calls after a store could not be reached; a store that refused is not called
  /// again in this process.
  static constexpr std::chrono::seconds rest{60};

  /// The object of these settings; null without a store or a database.
  static std::shared_ptr<shared_results> of(const tuning_settings& settings);

  /// @param database  the path of the user's database
  /// @param may_push  false: nothing is pushed
  shared_results(std::string url, const std::string& database, bool may_push);

  /// Pulls the results of a key from the store, once for each key while it answers.
  pulled pull(const function_identity& function, const record_key& key) noexcept override;

  /// Takes the right to search by a lock of the store, if pushing is allowed. It is lost with the
  /// connection: another machine may then search too.
  claimed claim(const function_identity& function, const record_key& key,
                std::chrono::milliseconds patience, const wait_look& look) override;

  /// Pulls a key, and copies the result for exactly its device with its trials into the database
  /// itself, which may be shipped. The results of earlier pulls are included.
  void adopt(const function_identity& function, const record_key& key) noexcept;

  /// Pushes the database's result for a key, if pushing is allowed, and all queued ones.
  /// @param only_queue  true: it is sent with a later one
  void push(const function_identity& function, const record_key& key,
            bool only_queue) noexcept override;

 private:
  class store_right;

  std::optional<bool> try_claim(const std::string& name);
  void give_back(const std::string& name) noexcept;
  void keep_away(const shared_store_error& failure);
  bool rests() const;
  void drain();

  const std::string database_;
  const bool may_push_;
  const push_queue queue_;
  std::string unusable_;  // the reason why the store cannot be tried; else empty

  detail::timed_mutex store_mutex_;  // guards only the connection
  std::unique_ptr<shared_store> store_;

  mutable std::mutex mutex_;  // guards the members below; never held during a call of the store
  std::set<std::string> asked_;
  std::chrono::steady_clock::time_point rests_until_{};
  bool is_refused_ = false;
};

/// The path of the plug-in for a URL. @throws shared_store_error that lists the places, if not
/// found
std::string find_store_driver(const std::string& url);

/// Results of a store, in the form for a merge, and their sources.
struct parsed_results {
  database_content content{};
  std::vector<sourced_result> sources{};
};

/// Parses the documents of a store. @param store  its name
/// @param bad  called with the reason for each invalid document
parsed_results parse_shared(const std::string& store, const std::vector<shared_result>& found,
                            const std::function<void(const std::string&)>& bad,
                            const function_identity* function = nullptr,
                            const record_key* key = nullptr);

/// Pushes the documents of a queue, the oldest first, and removes each one that the store has
/// accepted or already had.
/// @throws shared_store_error, except for errors of a single document
push_report push_all(shared_store& store, const push_queue& queue,
                     const std::function<void(const std::string&)>& bad);

}  // namespace tune
