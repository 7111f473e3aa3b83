// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/learning_strategy.hpp"

namespace tune::detail {

/// Returns the error for a name that no strategy has, which lists those that there are.
argument_error unknown_strategy(std::string_view name);

// The strategies that make_strategy knows. Each throws what strategy's constructor throws.

/// Everything. A small space in its order; a larger one in strides of about the golden section of
/// its size, so that a search which is ended early has seen a little of all its parts.
/// The seed means nothing here.
std::unique_ptr<strategy> make_exhaustive(const search_space& space, const strategy_options& with);

/// Configurations drawn uniformly, none twice. The order is the same for the same seed on every
/// platform, and the same as that of search_space::sample.
std::unique_ptr<strategy> make_random(const search_space& space, const strategy_options& with);

/// Iterated local search (Lourenço, Martin and Stützle, 2003): from the best of a random sample it
/// goes to the first neighbour that is better, until none is; then a few random steps away from the
/// best, or now and then from a new sample. Tried configurations are never neighbours again.
std::unique_ptr<strategy> make_local(const search_space& space, const strategy_options& with);

/// A genetic algorithm in a steady state (Whitley's GENITOR, 1989), for which no generation has to
/// be complete: children of two of the best configurations so far, each parameter from either of
/// them, some changed. Forbidden ones become the closest valid ones.
std::unique_ptr<strategy> make_genetic(const search_space& space, const strategy_options& with);

/// Bayesian optimisation (Mockus, 1978; Jones, Schonlau and Welch, 1998): proposes what a model of
/// the answers so far expects to gain most from. The model is a Gaussian process with an additive
/// kernel, which learns of failures too; see surrogate.
std::unique_ptr<strategy> make_model(const search_space& space, const strategy_options& with);

/// The best of similar keys and devices (strategy_options::warm_start), then what differs
/// from the first of it, or from the best answer so far, in one parameter; then it ends. Without a
/// start it is everything, in the order of the space. For many keys that are alike, each of which
/// is worth a few trials only.
std::unique_ptr<strategy> make_near(const search_space& space, const strategy_options& with);

}  // namespace tune::detail
