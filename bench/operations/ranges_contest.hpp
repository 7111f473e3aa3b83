// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The race of all configurations of a space at one size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/extra/ranged/size_range.hpp"
#include "libtune/search/space/random_source.hpp"
#include "libtune/search/space/space.hpp"

namespace bench {

/// Makes operations for sizes; empty if a program does not compile.
using maker = std::function<std::unique_ptr<tune::operation>(const tune::size_list&)>;

/// Returns the same memory repeatedly: for scratch of operations that run in turn.
class scratch_allocator final : public tune::allocator {
 public:
  explicit scratch_allocator(tune::context context) : allocator(std::move(context)) {}

 private:
  tune::buffer do_allocate(std::size_t bytes) override;

  std::optional<tune::buffer> memory_;
};

/// Returns all configurations of a space; with a limit other than 0, a random part of them.
template <class Tuning>
std::vector<Tuning> compared_tunings(const tune::space<Tuning>& space, std::size_t limit,
                                     std::uint64_t seed) {
  std::vector<Tuning> all(space.begin(), space.end());
  if (limit == 0 || all.size() <= limit) return all;
  tune::random_source random(seed);
  for (std::size_t i = 0; i < limit; ++i) {
    std::swap(all[i], all[i + random.below(all.size() - i)]);
  }
  all.resize(limit);
  return all;
}

/// Returns the places of these tunings among all, and appends to all those that are missing.
template <class Tuning>
std::vector<std::size_t> places_of(const std::vector<Tuning>& tunings, std::vector<Tuning>& all) {
  std::vector<std::size_t> places;
  places.reserve(tunings.size());
  for (const Tuning& each : tunings) {
    const auto found = std::ranges::find_if(
        all, [&](const Tuning& other) { return tune::to_values(each) == tune::to_values(other); });
    places.push_back(static_cast<std::size_t>(found - all.begin()));
    if (found == all.end()) all.push_back(each);
  }
  return places;
}

/// The configurations at one size.
class contest {
 public:
  /// Runs the configurations that can run at this size. All references must outlive it.
  contest(device_timer& timer, std::shared_ptr<tune::allocator> scratch,
          const std::vector<maker>& makers, const tune::size_list& at,
          const std::function<void(tune::operation&, const tune::size_list&)>& fill);

  /// Times all in turn. Returns the times of the first `count` configurations in us; 0 for a
  /// failure.
  std::vector<double> times(std::size_t count);
  /// Returns the time of the best over that of the configuration with this number.
  double ratio(std::size_t chosen, int rounds, int pairs);

 private:
  struct entry {
    std::size_t number = 0;
    std::unique_ptr<tune::operation> op{};
    std::vector<double> seconds{};
    double host = 10e-6;  // seconds to enqueue a run
  };

  void share_arrays(tune::operation& op, const tune::size_list& at,
                    const std::function<void(tune::operation&, const tune::size_list&)>& fill);
  std::vector<entry*> finalists_with(entry& own);
  void time(entry& of, int runs);

  device_timer& timer_;
  std::shared_ptr<tune::allocator> scratch_;
  std::vector<entry> entries_;
};

}  // namespace bench
