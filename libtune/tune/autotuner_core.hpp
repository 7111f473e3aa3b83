// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/trial_recorder.hpp"
#include "libtune/tune/engine/verification.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// An autotune function once the types of its key and tuning have been erased. It registers itself
/// for as long as it lives. Immutable, so thread-safe.
class autotuner_core : public std::enable_shared_from_this<autotuner_core> {
 public:
  using values = std::vector<named_value>;
  using function = tuning_function;

  /// Throws argument_error for values that are no tuning, such as an enumerator of another name.
  using check_function = std::function<void(const values&)>;

  autotuner_core(function_identity identity, values test_default, function tunes,
                 check_function check);
  ~autotuner_core();
  autotuner_core(const autotuner_core&) = delete;
  autotuner_core& operator=(const autotuner_core&) = delete;

  const function_identity& identity() const noexcept { return identity_; }
  const values& test_default() const noexcept { return test_default_; }
  const function& tunes() const noexcept { return tunes_; }

  /// The tuning for a key on the context's device: what the database has, else whatever the mode
  /// says. See autotuner.
  values obtain(const context& context, const values& key, const tuning_options& options) const;

 private:
  struct request;

  std::optional<record> if_a_tuning(const request& asked, std::optional<record> found) const;
  values find_standing(const request& asked, const record& found, const std::string& result) const;
  std::optional<values> look_up(request& asked) const;
  std::optional<record> find_nearest(const request& asked) const;
  verification plan_verification(const request& asked) const;
  std::optional<std::string> find_failure(const request& asked) const;
  values renew(const request& asked) const;
  values tune_once(const request& asked) const;
  void require_another(const request& asked) const;
  values tune_in_turn(const request& asked) const;
  values tune_without_right(const request& asked) const;
  bool goes_on(const request& asked) const;
  values tune_and_store(const request& asked, search_start start = search_start::continued) const;
  values tune_for_test(const request& asked) const;
  values do_without(const request& asked) const;

  function_identity identity_;
  values test_default_;
  function tunes_;
  check_function check_;
};

/// The autotune functions that live in this program, in the order in which they were made.
std::vector<const autotuner_core*> registered_autotuners();

}  // namespace tune
