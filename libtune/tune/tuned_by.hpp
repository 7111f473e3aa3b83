// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/verify/comparison.hpp"

namespace tune {

/// The slots of an operation that hold its results, with the allowed differences between results of
/// different tunings.
using tuned_results = std::map<std::string, tolerance, std::less<>>;

namespace detail {

/// The declaration of tuned_by, with its types erased.
struct tuning_declaration {
  std::function<const function_identity&()> function;
  std::function<std::vector<named_value>(const remade_parameters&)> key;
  /// An empty function: all slots, with the default tolerances.
  std::function<tuned_results(const remade_parameters&)> results{};
};

/// Registers the declaration of a class. The first of a class counts.
void add_tuning_declaration(const std::type_info& type, tuning_declaration declared);
/// The declaration of a class; null without one. @param type  as from class_name
std::shared_ptr<const tuning_declaration> find_tuning_declaration(const std::string& type);

}  // namespace detail

/// Declares the autotuner and the key that tune the operations of a class, so that searches can use
/// captured runs of such operations as inputs (libtune::capture, LIBTUNE_INPUTS). A static object
/// beside the remaker of the class, whose function makes the operation of each configuration: with
/// the captured parameters, and with the configuration in place of the parameters "tuning.<field>".
///
///   const tune::tuned_by<gain> gain_is_tuned{
///       gain_template::autotune, [](const tune::remade_parameters& from) {
///         return gain_key{.type = from.type("type")};
///       }};
///
/// The results of a configuration are compared with the captured ones. Without a third argument
/// these are all slots after the run, with the default tolerances of their types. An
/// operation with scratch slots, or whose results depend on the tuning by more than these, names
/// its results. Thread-safe.
template <std::derived_from<operation> Operation>
class tuned_by {
 public:
  /// @param function  a static autotuner
  /// @param key       (const remade_parameters&) returns a Key
  template <class Key, class Tuning, class KeyOf>
  tuned_by(const autotuner<Key, Tuning>& function, KeyOf key)
      : tuned_by(function, std::move(key), {}) {}
  /// @param results  the slots to compare; those that are not named are not compared, and those of
  ///                 them that the run changed begin without contents
  template <class Key, class Tuning, class KeyOf>
  tuned_by(const autotuner<Key, Tuning>& function, KeyOf key,
           // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
           std::function<tuned_results(const remade_parameters&)> results) {
    detail::add_tuning_declaration(
        typeid(Operation),
        {.function = [&function]() -> const function_identity& { return function.identity(); },
         .key =
             [key = std::move(key)](const remade_parameters& from) {
               const Key made = key(from);
               return to_values(made);
             },
         .results = std::move(results)});
  }
};

}  // namespace tune
