// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/tuned_key.hpp"

namespace tune {

class single_flight;

/// The lookups of one call: looks for the results of its key and checks that they can be used.
class key_lookup {
 public:
  using values = std::vector<named_value>;

  /// @param key  outlives this; its settings are resolved and its databases open before a lookup
  explicit key_lookup(const tuned_key& key) : key_(key) {}

  /// Returns the result of the lock that the settings name. @throws not_locked_error
  values locked() const;
  /// Returns the result that is used: that of this device, else of the shared store, else of
  /// another device. Reports the lookup.
  std::optional<record> look_up();
  /// Returns the exact match of the databases. Waits for others that hold one, for 10 s at most,
  /// and then sets busy().
  std::optional<record> find_exact() const;
  /// Asks the shared store for the key. Returns true if results came.
  bool pull() const;
  /// Returns the result of another device that works here, checked once for each key.
  std::optional<record> find_nearest() const;
  /// Returns a result if the present function and its space allow it.
  std::optional<record> if_valid(std::optional<record> found) const;
  /// True if the values are a tuning of the function, in some space.
  bool is_tuning_of_core(const values& configuration) const;
  /// Notes that newly found values are in the space.
  void note_valid(const values& made) const;
  /// True if this call resumes a search that its budget ended.
  bool has_stopped_search() const;
  /// The results of other devices that a search measures first, if the plan verifies.
  verification plan_verification() const;

  /// The last failure of find_exact: others hold a database, which may have the key.
  const std::optional<database_busy_error>& busy() const { return busy_; }
  /// The time at which the last search for the key found nothing, on a miss.
  const std::optional<std::string>& failed_at() const { return failed_at_; }

 private:
  std::optional<std::string> find_failure() const;
  void report_lookup(const std::optional<record>& found, std::chrono::nanoseconds elapsed) const;
  bool is_tuning(const record& found) const;
  bool is_allowed(const record& found) const;

  const tuned_key& key_;
  std::optional<std::string> failed_at_;
  mutable std::optional<database_busy_error> busy_;
};

namespace detail {

lookup_grade grade_of(const std::optional<record>& found) noexcept;

/// The wait of one attempt to read a database that others hold.
inline constexpr std::chrono::milliseconds read_at_a_time{50};

/// The searches, checks and pulls that threads of this process share.
single_flight& searches_in_flight();

}  // namespace detail
}  // namespace tune
