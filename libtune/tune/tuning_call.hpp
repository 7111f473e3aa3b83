// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/key_lookup.hpp"
#include "libtune/tune/tuned_key.hpp"

namespace tune {

/// One call of an autotuner: the lookup, and the tuning where there is no result. One thread uses
/// it, once.
class tuning_call {
 public:
  using values = std::vector<named_value>;

  /// Everything outlives the call.
  tuning_call(const autotuner_core& core, const tune::context& context, const values& key,
              const tuning_options& options)
      : key_(core, context, key, options), lookup_(key_) {}

  /// Returns the tuning and its origin: that of the databases, else as the mode says. See
  /// autotuner.
  detail::graded_values answer();
  /// Returns the tuning, and behind it those with the least times of the search that found it.
  /// @param most  the greatest number of them, at least one
  std::vector<values> finalists(std::size_t most);
  /// Tunes for a test: here, unless the options insist on isolation, and with a short wait for
  /// other threads and processes. Neither reads nor writes a database.
  values tune_for_test();
  /// Tunes the key once for all threads and processes that want it now, and stores the result. The
  /// settings of the key are resolved, and its databases open.
  values tune_once();

  tuned_key& key() { return key_; }
  const tuned_key& key() const { return key_; }
  const key_lookup& lookup() const { return lookup_; }

 private:
  detail::graded_values find_answer();
  void keep_to_total();
  lookup_grade made_grade() const;
  void push() const;
  void require_another() const;
  values tune_in_turn();
  bool is_claimed() const;
  std::optional<values> find_claimed(const detail::result_source::claimed& claim);
  key_wait& waiting();
  std::optional<record> find_after_wait();
  values tune_without_right();
  bool is_asked_to_tune() const;
  values tune_and_store(search_start start = search_start::continued);
  values do_without();

  tuned_key key_;
  key_lookup lookup_;
  std::optional<key_wait> waits_;  // while this call waits for another
  bool is_new_ = false;            // this call has stored a result that it found
  detail::tuning_origin origin_ = detail::tuning_origin::failed;
};

}  // namespace tune
