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

#include "libtune/extra/shared/push_queue.hpp"
#include "libtune/extra/shared/result_provenance.hpp"
#include "libtune/extra/shared/shared_store.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {

/// The numbers of documents that were handed to a shared store.
struct push_report {
  std::size_t stored = 0;
  std::size_t kept = 0;     ///< the store has one that is as good or better
  std::size_t left = 0;     ///< could not be pushed, and stay in the queue
  std::size_t dropped = 0;  ///< are no results that a store takes
};

/// Pulls the results that a database lacks from a shared store, into a database beside it that is
/// one of the layers of a lookup, and pushes what is found here. A store that cannot be used costs
/// one warning and is left alone for a while; nothing throws because of it.
///
/// One exists for each store and database in a process. Thread-safe; no lock that a lookup needs
/// is held while the server is waited for.
class shared_results final : public detail::result_source {
 public:
  /// A store that was away is left alone for so long; one that refused, for the life of the
  /// process.
  static constexpr std::chrono::seconds rest{60};

  /// The one of these settings; null if they name no store, or there is nowhere to keep results.
  static std::shared_ptr<shared_results> of(const tuning_settings& settings);

  /// @param database  the user's; @param may_push  false: nothing is pushed
  shared_results(std::string url, const std::string& database, bool may_push);

  /// Asks the store for the results of a key, once for each key as long as it answers.
  pulled pull(const function_identity& function, const record_key& key) noexcept override;

  /// Pulls a key, and brings the result for its very device with its trials into the database
  /// itself, for those who ship that. What an earlier pull has brought counts too.
  void adopt(const function_identity& function, const record_key& key) noexcept;

  /// Hands over the result that the database has for a key, where pushing is allowed, and what has
  /// waited. @param only_queue  it is sent with a later one
  void push(const function_identity& function, const record_key& key,
            bool only_queue) noexcept override;

 private:
  void keep_away(const shared_store_error& failure);
  bool rests() const;
  void drain();

  const std::string database_;
  const bool may_push_;
  const push_queue queue_;
  std::string unusable_;  // why the store cannot even be tried

  std::timed_mutex store_mutex_;  // of the connection alone
  std::unique_ptr<shared_store> store_;

  mutable std::mutex mutex_;  // of what follows; never held during a call of the store
  std::set<std::string> asked_;
  std::chrono::steady_clock::time_point rests_until_{};
  bool is_refused_ = false;
};

/// The path of the plug-in for a URL; a shared_store_error that lists the places, if there is none.
std::string find_store_driver(const std::string& url);

/// Results of a store, as a merge takes them, and their sources.
struct parsed_results {
  database_content content{};
  std::vector<sourced_result> sources{};
};

/// Parses the documents of a store. @param store  its name
/// @param bad  called with the reason for each that is no result
parsed_results parse_shared(const std::string& store, const std::vector<shared_result>& found,
                            const std::function<void(const std::string&)>& bad,
                            const function_identity* function = nullptr,
                            const record_key* key = nullptr);

/// Pushes the documents of a queue, the oldest first, and removes those that the store has.
/// @throws shared_store_error unless the fault is that of one document
push_report push_all(shared_store& store, const push_queue& queue,
                     const std::function<void(const std::string&)>& bad);

}  // namespace tune
