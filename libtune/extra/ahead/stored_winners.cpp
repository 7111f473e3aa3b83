// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "libtune/extra/ahead/group_work.hpp"
#include "libtune/extra/ahead/recheck.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/identity_column.hpp"

namespace tune {
namespace {

/// The results of one key for one device of this machine.
struct candidates {
  std::vector<result_content> results;
  std::vector<device_identity> devices;  // of the results
};

/// The results of a function, by their key and the number of the device.
using candidates_by_key = std::map<std::pair<std::string, std::size_t>, candidates>;

stored_winner winner_of(const function_identity& function, candidates& of,
                        const device_identity& device) {
  const std::size_t nearest = rank_nearest(of.devices, device).front().index;
  result_content& chosen = of.results[nearest];
  return {.function = function,
          .key = std::move(chosen.arguments),
          .device = device,
          .stored_for = of.devices[nearest],
          .values = std::move(chosen.values),
          .score_ns = chosen.score_ns()};
}

void find_in_function(database_reader& database, const function_identity& function,
                      const winner_choice& choice, std::span<const device_group> groups,
                      found_winners& found) {
  candidates_by_key by_key;
  database.for_each_result(
      function, {.driver_version = choice.driver}, [&](result_content& result) {
        if (choice.takes && !choice.takes(function, result.arguments)) return;
        const device_identity of = result.device();
        if (is_prior(of)) return;
        bool is_here = false;
        for (std::size_t i = 0; i < groups.size(); ++i) {
          if (step_between(of, groups[i].info().identity) > match_step::software) continue;
          is_here = true;
          candidates& known = by_key[{canonical_text(result.arguments), i}];
          known.results.push_back(result);
          known.devices.push_back(of);
        }
        if (!is_here) ++found.of_other_devices;
      });
  for (auto& [place, of] : by_key) {
    found.winners.push_back(winner_of(function, of, groups[place.second].info().identity));
  }
}

}  // namespace

found_winners find_winners(const std::string& database, const winner_choice& choice,
                           std::span<const device> devices) {
  found_winners found;
  database_reader reader(database, database_access::read_only);
  if (!reader.has_tables()) return found;
  const std::vector<device_group> groups = group_devices(devices);
  for (const function_identity& function : reader.identities()) {
    find_in_function(reader, function, choice, groups, found);
  }
  return found;
}

}  // namespace tune
