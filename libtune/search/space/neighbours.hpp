// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "libtune/search/space/random_source.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

/// The kinds of neighbours of a configuration. A configuration is not its own neighbour, and the
/// relation is symmetric. Forbidden combinations are skipped, so there may be no neighbours.
enum class neighbourhood {
  hamming,   ///< exactly one parameter has another candidate, at any distance
  adjacent,  ///< every parameter has the same candidate or the next one in the list, in either
             ///< direction
};

/// Returns all neighbours of a configuration, ascending. For hamming, their number is at most the
/// sum of the numbers of candidates; for adjacent, it may triple with every parameter: see
/// sample_neighbours.
/// @throws argument_error if there is no configuration of this number; errors of
///         search_space::size()
std::vector<std::size_t> neighbours(const search_space& space, std::size_t index,
                                    neighbourhood kind);

/// Returns count different neighbours, or all if there are fewer; every choice and order of them is
/// equally likely. The result only depends on the space and the numbers drawn. It never lists many
/// neighbours to find a few.
/// @throws as neighbours
std::vector<std::size_t> sample_neighbours(const search_space& space, std::size_t index,
                                           neighbourhood kind, std::size_t count,
                                           detail::random_source& random);

/// Returns one neighbour, each with equal probability; empty if there are no neighbours.
/// @throws as neighbours
std::optional<std::size_t> random_neighbour(const search_space& space, std::size_t index,
                                            neighbourhood kind, detail::random_source& random);

/// Returns the configuration whose indices of candidates are closest to a point, by the sum of the
/// squared differences over all parameters. Among equally close ones the choice is deterministic.
/// Empty if the space is empty. Strategies that calculate with configurations use it to get valid
/// ones.
/// @param space  the configurations to choose from
/// @param point  an index for each parameter; it may be a fraction, or lie outside the candidates
/// @throws argument_error unless the point has one finite number for each parameter; errors of
///         search_space::size()
std::optional<std::size_t> closest(const search_space& space, std::span<const double> point);

namespace detail {

/// Returns all Hamming neighbours of a configuration in random order. The parameters take turns, so
/// that one with thirty candidates does not crowd out one with two.
std::vector<std::size_t> neighbours_by_turns(const search_space& space, std::size_t index,
                                             random_source& random);

/// Returns the closest configuration to a point, or, if that has been tried, one a few random steps
/// from it; empty if all of these have been tried.
/// @param point  an index of a candidate for each parameter, as in closest()
std::optional<std::size_t> untried_near(const search_space& space, std::span<const double> point,
                                        const std::function<bool(std::size_t)>& tried,
                                        random_source& random);

}  // namespace detail
}  // namespace tune
