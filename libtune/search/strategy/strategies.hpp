// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/learning_strategy.hpp"

namespace tune::detail {

/// Returns the error for an unknown strategy, which lists the known ones.
argument_error unknown_strategy(std::string_view name);

// The strategies of make_strategy. Each throws as strategy's constructor.

/// Tries all configurations. A small space in its order; a larger one in strides of about the
/// golden section of its size, so that a search which ends early has tried some of all its parts.
/// The seed is ignored.
std::unique_ptr<strategy> make_exhaustive(const search_space& space, const strategy_options& with);

/// Draws configurations uniformly, without repetition. The order is the same for the same seed on
/// every platform, and the same as in search_space::sample.
std::unique_ptr<strategy> make_random(const search_space& space, const strategy_options& with);

/// Iterated local search (Lourenço, Martin and Stützle, 2003): from the best of a random sample it
/// moves to the first better neighbour, until none is better; then it takes a few random
/// steps from the best, or sometimes starts from a new sample. Tried configurations are never
/// neighbours again.
std::unique_ptr<strategy> make_local(const search_space& space, const strategy_options& with);

/// A steady-state genetic algorithm (Whitley's GENITOR, 1989), which needs no complete generations:
/// children of two of the best configurations so far, each parameter from either of them, some
/// changed. Forbidden children become the closest valid configurations.
std::unique_ptr<strategy> make_genetic(const search_space& space, const strategy_options& with);

/// Bayesian optimisation (Mockus, 1978; Jones, Schonlau and Welch, 1998): proposes the
/// configuration with the largest gain expected by a model of the results so far. The model is a
/// Gaussian process with an additive kernel, which learns from failures too; see surrogate.
std::unique_ptr<strategy> make_model(const search_space& space, const strategy_options& with);

/// The best configurations of similar keys and devices (strategy_options::warm_start), then those
/// that differ in one parameter from the first of them or from the best result so far; then it
/// ends. Without a start it tries all, in the order of the space. For many similar keys, each of
/// which is worth only a few trials.
std::unique_ptr<strategy> make_near(const search_space& space, const strategy_options& with);

}  // namespace tune::detail
