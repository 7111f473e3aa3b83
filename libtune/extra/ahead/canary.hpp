// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/ahead/recheck.hpp"
#include "libtune/extra/shared/shared_store.hpp"

namespace tune {

/// Results of a database that are new: a shared store has no result for their key and device, or
/// one with other values. They serve on the machines of that database alone.
struct canary_results {
  std::vector<stored_winner> winners{};
  std::size_t known = 0;              ///< results that the store has, too
  std::size_t of_other_software = 0;  ///< results of another driver or compiler, which are not new
  /// The values of the store, by the text of function, key and device.
  std::map<std::string, std::vector<named_value>> shared{};

  /// Returns the values of the store for the key of a result; null without any.
  const std::vector<named_value>* shared_values(const stored_winner& of) const;
};

/// Finds the new results among those of a database.
/// @param bad  called with the reason for each invalid document of the store, which counts as none
/// @throws shared_store_error
canary_results find_canaries(shared_store& store, const std::vector<stored_winner>& winners,
                             const std::function<void(const std::string&)>& bad);

/// Decides about a new result that was compared with the shared one among others:
///  - withdrawn: it is wrong or lost;
///  - promoted: it holds, and there is no shared one, or that one does not work, is not in the
///    space, or is slower by more than the tolerance;
///  - kept: it holds, and the shared one is as good, which stays;
///  - undecided: anything else.
/// Sets decision and decision_reason of the result.
/// @param shared  the values of the store; null without any
void decide_canary(recheck_result& result, const std::vector<named_value>* shared, double within);

/// Decides about all new results, and stores the decisions and the promoted results in the store.
/// A result whose decision cannot be stored, or for which the store has another result by now, has
/// a decision_failure.
/// @param database  the path of their database
/// @param results   of recheck for the new results, in any order
void decide_canaries(shared_store& store, const canary_results& canaries,
                     const std::string& database, double within,
                     std::vector<recheck_result>& results);

}  // namespace tune
