// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {

class key_wait;

/// One call of an autotuner: the lookup, and the tuning where there is no result. One thread uses
/// it, once.
class tuning_call {
 public:
  using values = std::vector<named_value>;

  /// Everything outlives the call.
  tuning_call(const autotuner_core& core, const tune::context& context, const values& key,
              const tuning_options& options);

  /// Returns the tuning: that of the databases, else as the mode says. See autotuner.
  values obtain() { return answer().values; }
  /// The same, with where it is from.
  detail::graded_values answer();
  /// Tunes the key for other calls, which use something else meanwhile, and hands them what it
  /// finds (tuning_news). @returns false if it is kept for this process alone, because it could not
  /// be stored @throws tuning_stopped_error, and as obtain does
  bool tune_behind(const background_task& work);
  /// Has the key tuned behind the application, in the mode behind. Returns false if it will not be.
  /// @param has_nearest  true if the application uses a result of another device meanwhile
  bool is_tuned_behind(bool has_nearest, tuning_mode mode = tuning_mode::tune);
  /// Has the key tuned behind the application though it has a result, which the new one replaces.
  /// Returns false if it will not be.
  bool tune_again_behind();
  /// Returns that, and behind it the tunings with the least times of the search that found it.
  /// @param most  the greatest number of them, at least one
  std::vector<values> finalists(std::size_t most);
  /// Tunes for a test: here, unless the options insist on isolation, and with a short wait for
  /// other threads and processes. Neither reads nor writes a database.
  values tune_for_test();

 private:
  /// Under which results are stored: the function's own, or with the goal in its name.
  const function_identity& identity() const { return of_goal_ ? *of_goal_ : core_.identity(); }
  record_key key() const { return {subject_.arguments, subject_.device.identity}; }
  const std::string& search() const;
  const std::string& name() const;
  std::chrono::milliseconds patience() const;

  values locked() const;
  /// Logs what is worth a line for each key, however often it is asked for.
  static void log_once(const std::string& key, const std::string& text);
  void open_databases();
  bool has_stopped_search() const;
  std::optional<std::string> find_failure() const;
  std::optional<record> look_up();
  /// The exact match of the databases. Waits for others that hold one, for 10 s at most; then
  /// sets busy_.
  std::optional<record> find_exact() const;
  /// Asks the shared store. @returns true if that brought results
  bool pull() const;
  void push() const;
  void report_lookup(const std::optional<record>& found, std::chrono::nanoseconds elapsed) const;
  std::optional<record> find_nearest() const;
  std::optional<record> if_valid(std::optional<record> found) const;
  bool is_tuning_of_core(const values& configuration) const;
  bool is_tuning(const record& found) const;
  bool is_allowed(const record& found) const;
  verification plan_verification() const;

  values renew() const;
  values tune_once() const;
  void require_no_capture() const;
  void require_another() const;
  values tune_in_turn() const;
  std::optional<record> find_after_wait(key_wait& waits) const;
  values tune_without_right() const;
  bool is_asked_to_tune() const;
  values tune_and_store(search_start start = search_start::continued) const;
  values do_without() const;
  void publish(const record& found) const;
  void note_valid(const values& made) const;

  const autotuner_core& core_;
  const tune::context& context_;
  const tuning_options& options_;
  tuning_subject subject_;
  std::optional<function_identity> of_goal_;  // unless it is the least time
  tuning_settings settings_;
  lookup_plan plan_{tuning_mode::tune, match_mode::exact};
  std::shared_ptr<const tuning_layers> layers_;
  std::shared_ptr<tuning_database> database_;  // null: nowhere to keep results
  const background_task* behind_ = nullptr;    // null: the application waits for this call
  std::optional<std::string> failed_at_;       // when the last search found nothing, on a miss
  mutable std::optional<database_busy_error> busy_;  // others hold a database: it may have the key
  mutable bool is_new_ = false;                      // this call has stored a result that it found
  mutable std::string search_;                       // made when it is needed, as is the name:
  mutable std::string name_;                         // most lookups need neither
};

}  // namespace tune
