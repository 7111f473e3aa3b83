// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "libtune/base/fields.hpp"
#include "libtune/device/context.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/session.hpp"

namespace tune {

/// A registered, named and versioned function that finds the best tuning for a key on a device.
/// Calling it looks in the tuning database; where there is no result it tunes, here and now, and
/// stores what it finds. Make it a static object of the template that it tunes. Immutable, and so
/// thread-safe: threads that ask for one key at one time tune it once. A static autotuner that was
/// called while main ran can be called to the very end of the process: by the destructors of other
/// static objects, and by threads that still run when main has returned.
///
/// Key and Tuning are aggregates listed with LIBTUNE_FIELDS. Raise the version when a field is
/// added, removed or renamed, or when the kernel has changed so much that old results mislead.
///
/// In a test program made with libtune's test main it returns the test default and touches no
/// database, unless the test says force_autotune: then it tunes, and still touches none.
///
/// Not constrained where it is declared, so that a header can declare an autotuner and the source
/// can list the fields.
template <class Key, class Tuning>
class autotuner {
  static_assert(fielded<Key>, "list the members of the key with LIBTUNE_FIELDS");
  static_assert(fielded<Tuning>, "list the members of the tuning with LIBTUNE_FIELDS");

 public:
  struct definition {
    std::string name;  ///< such as "multiply_template.autotune"; names the database table
    int version = 0;
    Tuning test{};  ///< works on every device; for tests, and for the mode "default"
  };

  /// Finds the best tuning, usually by tuning_session::tune.
  using function = std::function<Tuning(tuning_session&, const Key&)>;

  /// Checks the name, the version and the names of all fields (store/function_identity.hpp).
  /// @throws argument_error that names the function and the field. Where a static object throws it,
  ///         the program ends before main, with that text
  autotuner(definition defined, function tunes)
      : core_(std::make_shared<const autotuner_core>(
            function_identity{std::move(defined.name), defined.version, describe_fields<Key>(),
                              describe_fields<Tuning>()},
            to_values(defined.test),
            [tunes = std::move(tunes)](tuning_session& session, const autotuner_core::values& key) {
              return to_values(tunes(session, from_values<Key>(key)));
            },
            [](const autotuner_core::values& values) {
              static_cast<void>(from_values<Tuning>(values));
            })) {}

  /// The tuning for this key on the context's device, with the context's options.
  /// @throws not_tuned_error if there is none and the mode forbids tuning
  ///         tuning_failed_error, empty_space_error and whatever the function throws
  ///         environment_error if an environment variable cannot be read
  ///         seal_broken_error on a sealed thread, whether there is a result or not
  Tuning operator()(const context& context, const Key& key = {}) const {
    return (*this)(context, key, *tuning_options_of(context));
  }
  /// The same with other options.
  Tuning operator()(const context& context, const Key& key, const tuning_options& options) const {
    return from_values<Tuning>(core_->obtain(context, to_values(key), options));
  }

 private:
  std::shared_ptr<const autotuner_core> core_;
};

}  // namespace tune
