// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// A cache of the results that the present space of a function allows or forbids. Thread-safe.
class result_validity {
 public:
  std::optional<bool> find(const std::string& result) const {
    const std::lock_guard lock(mutex_);
    const auto found = allowed_.find(result);
    return found == allowed_.end() ? std::nullopt : std::optional(found->second);
  }
  void note(const std::string& result, bool allowed) {
    const std::lock_guard lock(mutex_);
    allowed_[result] = allowed;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, bool> allowed_;
};

/// An autotune function with the types of its key and tuning erased. It is registered during its
/// life. Immutable, so thread-safe.
class autotuner_core : public std::enable_shared_from_this<autotuner_core> {
 public:
  using values = std::vector<named_value>;
  using function = detail::tuning_function;

  /// Throws argument_error for values that are not a tuning, such as an unknown enumerator name.
  using check_function = std::function<void(const values&)>;

  /// @param repeatable  see autotuner_parts
  autotuner_core(function_identity identity, values test_default, function tunes,
                 check_function check, tuning_goal goal = {}, bool repeatable = false);
  ~autotuner_core();
  autotuner_core(const autotuner_core&) = delete;
  autotuner_core& operator=(const autotuner_core&) = delete;

  const function_identity& identity() const noexcept { return identity_; }
  const values& test_default() const noexcept { return test_default_; }
  const function& tunes() const noexcept { return tunes_; }
  /// The goal of the author.
  const tuning_goal& goal() const noexcept { return goal_; }
  /// @throws argument_error if the values are not a tuning
  void check(const values& tuning) const { check_(tuning); }
  bool is_repeatable() const noexcept { return repeatable_; }
  result_validity& validity() const noexcept { return validity_; }

  /// Returns the tuning for a key on the context's device: the database's, else by the mode.
  /// See autotuner.
  values obtain(const context& context, const values& key, const tuning_options& options) const {
    return graded(context, key, options).values;
  }
  /// Returns the tuning and its origin; see autotuner::graded.
  detail::graded_values graded(const context& context, const values& key,
                               const tuning_options& options) const;
  /// Returns the tuning, and after it the tunings with the least times of the search that found it;
  /// see autotuner::finalists.
  std::vector<values> finalists(const context& context, const values& key, std::size_t most,
                                const tuning_options& options) const;

 private:
  /// Throws on a sealed thread and in a forked process.
  void prepare(const context& context, const values& key) const;

  function_identity identity_;
  values test_default_;
  function tunes_;
  check_function check_;
  tuning_goal goal_;
  bool repeatable_;
  mutable result_validity validity_;
};

/// The live autotune functions of this program. Thread-safe.
class autotuner_registry {
 public:
  static autotuner_registry& instance();

  void add(const autotuner_core& added);
  void remove(const autotuner_core& removed) noexcept;
  std::vector<const autotuner_core*> all() const;

  /// Makes the function of a key, if its fields depend on the key: for a kernel described at run
  /// time.
  using maker =
      std::function<std::shared_ptr<const autotuner_core>(const std::vector<named_value>& key)>;
  /// @param owner    identifies the entry for remove_maker
  /// @param example  a key, for lists of functions; empty: it is not listed
  void add_maker(const void* owner, std::string name, int version, maker makes,
                 std::optional<std::vector<named_value>> example = std::nullopt);
  void remove_maker(const void* owner) noexcept;
  /// Returns the function with this name and version, for a key; null without one.
  std::shared_ptr<const autotuner_core> find(const std::string& name, int version,
                                             const std::vector<named_value>& key) const;

  /// Returns the functions of the examples. A failure is logged, and its function is left out.
  std::vector<std::shared_ptr<const autotuner_core>> make_examples() const;

  /// Keeps the functions that live when main returns: static autotuners can then be called to the
  /// very end of the process. Called before the first search or lookup.
  void keep_at_exit();

  /// @throws argument_error if the values are not a tuning of a function, or the function is
  /// unknown
  void check(const function_identity& function, const std::vector<named_value>& values) const;

  /// @throws argument_error if another function has the same name and version: they would share a
  ///         table, and each would find the results of the other
  void require_unique(const autotuner_core& one) const;

 private:
  autotuner_registry() = default;
  friend class detail::never_destroyed<autotuner_registry>;

  void keep_all() noexcept;

  mutable std::mutex mutex_;
  std::vector<const autotuner_core*> autotuners_;            // in the order of their construction
  std::vector<std::shared_ptr<const autotuner_core>> kept_;  // from the end of main on
  struct registered_maker {
    const void* owner;
    std::string name;
    int version;
    maker makes;
    std::optional<std::vector<named_value>> example;
  };
  std::vector<registered_maker> makers_;
};

/// The live autotune functions of this program, in the order of their construction.
std::vector<const autotuner_core*> registered_autotuners();

/// Returns fields that fit these values, for functions whose keys or tunings are not structures.
std::vector<field_description> describe_values(const std::vector<named_value>& values);

}  // namespace tune
