// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/session.hpp"

namespace tune {

class autotuner_core;
struct function_identity;

/// A tuning and its origin.
template <class Tuning>
struct graded_tuning {
  Tuning tuning{};  ///< works on the device
  /// exact: a result of this device; nearest: a result of another device; miss: the test default.
  lookup_grade grade = lookup_grade::exact;
  /// True if a better one may come while the program runs (tuning_mode::behind).
  bool is_tuned_behind = false;
};

namespace detail {

/// A graded_tuning with its type erased.
struct graded_values {
  std::vector<named_value> values;
  lookup_grade grade = lookup_grade::exact;
  bool is_tuned_behind = false;
};

/// An autotune function without its types: from a key to a tuning.
using tuning_function =
    std::function<std::vector<named_value>(tuning_session&, const std::vector<named_value>&)>;

/// The parts of an autotuner, with the types of its key and tuning erased.
struct autotuner_parts {
  ~autotuner_parts();

  std::string name;
  int version = 0;
  std::vector<field_description> key_fields;
  std::vector<field_description> tuning_fields;
  std::vector<named_value> test_default;
  tuning_function tunes;
  /// Throws argument_error for values that are not a tuning, such as an unknown enumerator name.
  std::function<void(const std::vector<named_value>&)> check;
  tuning_goal goal{};
  /// True if several autotuners may have this identity, because they are made at run time.
  bool repeatable = false;
};

/// Makes and registers an autotuner. @throws argument_error as autotuner's constructor does
std::shared_ptr<const autotuner_core> make_autotuner(autotuner_parts parts);
/// The identity of an autotuner, as autotuner::identity returns it.
const function_identity& identity_of(const autotuner_core& core) noexcept;
/// Returns the tuning, as autotuner's calls do. @param options  null: the context's
std::vector<named_value> obtain_tuning(const autotuner_core& core, const context& context,
                                       const std::vector<named_value>& key,
                                       const tuning_options* options);
/// Returns the tuning and its grade, as autotuner::graded does. @param options  as above
graded_values obtain_graded(const autotuner_core& core, const context& context,
                            const std::vector<named_value>& key, const tuning_options* options);
/// Returns the finalists, as autotuner::finalists does. @param options  as above
std::vector<std::vector<named_value>> obtain_finalists(const autotuner_core& core,
                                                       const context& context,
                                                       const std::vector<named_value>& key,
                                                       std::size_t most,
                                                       const tuning_options* options);

}  // namespace detail

/// A registered, named and versioned function that finds the best tuning for a key on a device. A
/// call looks in the tuning database; without a result there, it tunes at once and stores the
/// result. Make it a static object of the template that it tunes. Immutable, and so thread-safe:
/// threads that need the same key at the same time tune it once. A static autotuner that was called
/// while main ran can be called to the very end of the process: by the destructors of other static
/// objects, and by threads that still run when main has returned.
///
/// Key and Tuning are aggregates listed with LIBTUNE_FIELDS. Raise the version when a field is
/// added, removed or renamed, or when the kernel has changed so much that old results mislead.
///
/// In a test program made with libtune's test main it returns the test default and uses no
/// database. With force_autotune it tunes, and uses no database either.
///
/// The class has no constraint at its declaration, so that a header can declare an autotuner and
/// the source can list the fields.
template <class Key, class Tuning>
class autotuner {
  static_assert(fielded<Key>, "list the members of the key with LIBTUNE_FIELDS");
  static_assert(fielded<Tuning>, "list the members of the tuning with LIBTUNE_FIELDS");

 public:
  /// The name, the version, the test default and the goal of an autotuner.
  struct definition {
    std::string name;  ///< such as "multiply_template.autotune"; names the database table
    int version = 0;   ///< results of other versions are not used
    Tuning test{};     ///< works on every device; for tests, and for the mode "default"
    /// Objectives and constraints; the least time by default. The goal is a part of each result.
    tuning_goal goal{};
  };

  /// Finds the best tuning, usually by tuning_session::tune.
  using function = std::function<Tuning(tuning_session&, const Key&)>;

  /// Checks the name, the version and the names of all fields (store/function_identity.hpp).
  /// @throws argument_error that names the function and the field. Where a static object throws it,
  ///         the program ends before main, with that text
  autotuner(definition defined, function tunes)
      : core_(detail::make_autotuner(
            {.name = std::move(defined.name),
             .version = defined.version,
             .key_fields = describe_fields<Key>(),
             .tuning_fields = describe_fields<Tuning>(),
             .test_default = to_values(defined.test),
             .tunes =
                 [tunes = std::move(tunes)](tuning_session& session,
                                            const std::vector<named_value>& key) {
                   return to_values(tunes(session, from_values<Key>(key)));
                 },
             .check =
                 [](const std::vector<named_value>& values) {
                   static_cast<void>(from_values<Tuning>(values));
                 },
             .goal = std::move(defined.goal)})) {}

  /// Returns the tuning for this key on the context's device, with the context's options.
  /// @throws not_tuned_error without a result if the mode forbids tuning
  ///         tuning_failed_error, empty_space_error and any exception of the function
  ///         environment_error if an environment variable cannot be read
  ///         seal_broken_error on a sealed thread, with or without a result
  Tuning operator()(const context& context, const Key& key = {}) const {
    return from_values<Tuning>(detail::obtain_tuning(*core_, context, to_values(key), nullptr));
  }
  /// Returns the tuning for this key, with other options.
  Tuning operator()(const context& context, const Key& key, const tuning_options& options) const {
    return from_values<Tuning>(detail::obtain_tuning(*core_, context, to_values(key), &options));
  }

  /// Returns the tuning for this key, obtained as by a call, and its origin. In a test with its
  /// defaults the origin is a miss.
  graded_tuning<Tuning> graded(const context& context, const Key& key = {}) const {
    return typed(detail::obtain_graded(*core_, context, to_values(key), nullptr));
  }
  /// Like graded(), with other options.
  graded_tuning<Tuning> graded(const context& context, const Key& key,
                               const tuning_options& options) const {
    return typed(detail::obtain_graded(*core_, context, to_values(key), &options));
  }

  /// Returns the tuning for this key, obtained as by a call, and after it the tunings that took the
  /// least time in its search, if the database has the trials. A sequence_tuner compares them in
  /// place. In a test with its defaults only the test default.
  /// @param context  the device, and the options
  /// @param key      as in a call
  /// @param most     the greatest number of tunings, at least one
  std::vector<Tuning> finalists(const context& context, const Key& key, std::size_t most) const {
    std::vector<Tuning> all;
    for (const auto& values :
         detail::obtain_finalists(*core_, context, to_values(key), most, nullptr)) {
      all.push_back(from_values<Tuning>(values));
    }
    return all;
  }

  /// The name, the version and the fields under which results are stored
  /// (store/database/function_identity.hpp).
  const function_identity& identity() const noexcept { return detail::identity_of(*core_); }

 private:
  friend class sequence_tuner;
  template <class Template>
  friend class live;

  static graded_tuning<Tuning> typed(const detail::graded_values& found) {
    return {from_values<Tuning>(found.values), found.grade, found.is_tuned_behind};
  }

  std::shared_ptr<const autotuner_core> core_;
};

}  // namespace tune
