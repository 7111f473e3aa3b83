// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/ranged/cost_model.hpp"
#include "libtune/extra/ranged/size_range.hpp"

namespace tune {

namespace detail {

class portfolio_core;

/// Returns the index of the configuration for these sizes. Allocates nothing and takes no lock.
/// @param fits   may be empty; called with indices of configurations
/// @param costs  of each configuration; empty: a tree chooses
std::size_t choose(const portfolio_core& core, std::span<const std::uint64_t> sizes,
                   const std::function<bool(std::size_t)>& fits,
                   std::span<const cost_function> costs) noexcept;

void note_sizes(const portfolio_core& core);

}  // namespace detail

/// The origin and the loss of a portfolio.
struct portfolio_facts {
  std::vector<size_range> ranges{};  ///< its sizes, in the order of the key
  /// The mean loss over sizes against tuning each size by itself: 0.02 is 2 %; infinite with too
  /// few measurements.
  double expected_loss = 0;
  /// The loss that nine of ten sizes stay below; infinite with too few measurements.
  double worst_loss = 0;
  std::size_t sizes = 0;     ///< the number of sizes of the comparison
  std::size_t compared = 0;  ///< configurations that were compared
  std::size_t leaves = 0;  ///< leaves of the tree that chooses; 0: costs choose (definition::costs)
  /// Leaves (without a tree: tunings) whose choice was not run at both ends and within, because
  /// time or sizes were too few.
  std::size_t unchecked = 0;
};

/// A few tunings that together serve ranges of sizes, and the choice among them. The last one,
/// which works at any size, is the definition's fallback or the test default. A small handle;
/// thread-safe.
template <class Tuning>
class portfolio {
 public:
  /// For ranged_autotuner only.
  portfolio(std::shared_ptr<const detail::portfolio_core> core, portfolio_facts facts,
            std::vector<Tuning> tunings,
            std::function<bool(const Tuning&, std::span<const std::uint64_t>)> fits,
            std::vector<cost_function> costs)
      : shared_(std::make_shared<const content>(std::move(core), std::move(facts),
                                                std::move(tunings), std::move(fits),
                                                std::move(costs))) {}

  /// All tunings. Compile a program for each.
  const std::vector<Tuning>& tunings() const noexcept { return shared_->tunings; }
  /// The ranges and losses of the portfolio.
  const portfolio_facts& facts() const noexcept { return shared_->facts; }

  /// Returns the index of the tuning for these sizes in tunings(). Sizes that programs requested
  /// earlier, and that were then measured, get the tuning that was fastest there. Sizes outside of
  /// the ranges get a tuning that the definition's fits allows, of the nearest leaf or the least
  /// cost, else the last one. All sizes are counted for the next tuning (note_sizes). Allocates
  /// nothing, takes no lock, and may be called by sealed threads. If costs choose, they are
  /// computed for sizes that were not among about the last thousand.
  /// @param sizes  one for each range, in the order of the key; any other number of sizes gets the
  ///               last tuning, and is not counted
  std::size_t choose(std::span<const std::uint64_t> sizes) const noexcept {
    const content& all = *shared_;
    if (!all.fits) return detail::choose(*all.core, sizes, {}, all.costs);
    // std::function stores a reference without an allocation.
    const auto fits = [&all, sizes](std::size_t place) {
      return all.fits(all.tunings[place], sizes);
    };
    return detail::choose(*all.core, sizes, std::ref(fits), all.costs);
  }
  /// Like the above, for a list: choose({rows, columns}).
  std::size_t choose(std::initializer_list<std::uint64_t> sizes) const noexcept {
    return choose(std::span(sizes.begin(), sizes.size()));
  }
  /// Writes the sizes passed to choose so far, and their counts, to a file beside the database: the
  /// next tuning measures at them, with these weights. The end of the last handle does so, too. It
  /// writes a file and logs, so it is not for a thread that must not wait. Does nothing in a
  /// process that was forked afterwards.
  void note_sizes() const { detail::note_sizes(*shared_->core); }

  /// Returns the tuning for these sizes.
  const Tuning& tuning_for(std::initializer_list<std::uint64_t> sizes) const noexcept {
    return tunings()[choose(sizes)];
  }

 private:
  struct content {
    content(std::shared_ptr<const detail::portfolio_core> its_core, portfolio_facts its_facts,
            std::vector<Tuning> its_tunings,
            std::function<bool(const Tuning&, std::span<const std::uint64_t>)> its_fits,
            std::vector<cost_function> its_costs)
        : core(std::move(its_core)),
          facts(std::move(its_facts)),
          tunings(std::move(its_tunings)),
          fits(std::move(its_fits)),
          costs(std::move(its_costs)) {}
    std::shared_ptr<const detail::portfolio_core> core;
    portfolio_facts facts;
    std::vector<Tuning> tunings;
    std::function<bool(const Tuning&, std::span<const std::uint64_t>)> fits;
    std::vector<cost_function> costs;
  };

  std::shared_ptr<const content> shared_;
};

}  // namespace tune
