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

/// Returns the place of the configuration for these sizes. Allocates nothing and takes no lock.
/// @param fits   may be empty; called with places of configurations
/// @param costs  of each configuration; none: a tree chooses
std::size_t choose(const portfolio_core& core, std::span<const std::uint64_t> sizes,
                   const std::function<bool(std::size_t)>& fits,
                   std::span<const cost_function> costs) noexcept;

void note_sizes(const portfolio_core& core);

}  // namespace detail

/// The origin and the loss of a portfolio.
struct portfolio_facts {
  std::vector<size_range> ranges{};  ///< the sizes that it was made for, in the order of the key
  /// The time that is lost beside tuning each size by itself: the mean over sizes, 0.02 is 2 %;
  /// infinite if too little was measured to say.
  double expected_loss = 0;
  /// The same, that nine of ten sizes stay below; infinite if too little was measured to say.
  double worst_loss = 0;
  std::size_t sizes = 0;     ///< at which configurations were compared
  std::size_t compared = 0;  ///< configurations that were compared
  std::size_t leaves = 0;    ///< of the tree that chooses; 0: costs choose (definition::costs)
  /// Leaves, or without a tree tunings, whose choice was not run at the ends and within for want of
  /// time, or of sizes among those that were looked at.
  std::size_t unchecked = 0;
};

/// A few tunings that together serve ranges of sizes, and the choice among them. The last one,
/// which works at any size, is the definition's fallback or the test default. A small handle;
/// thread-safe.
template <class Tuning>
class portfolio {
 public:
  /// For ranged_autotuner.
  portfolio(std::shared_ptr<const detail::portfolio_core> core, portfolio_facts facts,
            std::vector<Tuning> tunings,
            std::function<bool(const Tuning&, std::span<const std::uint64_t>)> fits,
            std::vector<cost_function> costs)
      : shared_(std::make_shared<const content>(std::move(core), std::move(facts),
                                                std::move(tunings), std::move(fits),
                                                std::move(costs))) {}

  /// All tunings. Compile a program for each.
  const std::vector<Tuning>& tunings() const noexcept { return shared_->tunings; }
  /// Its ranges and its loss.
  const portfolio_facts& facts() const noexcept { return shared_->facts; }

  /// Returns the place of the tuning for these sizes among tunings(). Any sizes: those that were
  /// measured since programs had asked for them get the tuning that was fastest there; others
  /// outside of the ranges one that the definition's fits allows, of the nearest leaf or the least
  /// cost, or else the last one. All are counted for the next tuning (note_sizes). Allocates
  /// nothing, takes no lock, and may be called by sealed threads. Where costs choose, they are
  /// computed for sizes that were not among the last thousand or so.
  /// @param sizes  one for each range, in the order of the key; any other number of them gets the
  ///               last tuning, and is not counted
  std::size_t choose(std::span<const std::uint64_t> sizes) const noexcept {
    const content& all = *shared_;
    if (!all.fits) return detail::choose(*all.core, sizes, {}, all.costs);
    // A reference fits a std::function without an allocation.
    const auto fits = [&all, sizes](std::size_t place) {
      return all.fits(all.tunings[place], sizes);
    };
    return detail::choose(*all.core, sizes, std::ref(fits), all.costs);
  }
  /// The same: choose({rows, columns}).
  std::size_t choose(std::initializer_list<std::uint64_t> sizes) const noexcept {
    return choose(std::span(sizes.begin(), sizes.size()));
  }
  /// Notes the sizes that choose was called with so far, and how often, beside the database: the
  /// next tuning measures at them, and counts them as often. The end of the last handle does so,
  /// too. Writes a file and logs, so not for a thread that may not wait. Does nothing in a process
  /// that was made by fork afterwards.
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
