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

/// The kinds of neighbours of a configuration. None is a neighbour of itself, and the relation is
/// symmetric. Forbidden combinations are skipped, so there may be none at all.
enum class neighbourhood {
  hamming,   ///< exactly one parameter has another candidate, whichever it is
  adjacent,  ///< every parameter has the same candidate or one beside it in the list
};

/// All neighbours of a configuration, ascending. Their number is at most the sum of the candidates
/// for hamming, and may grow threefold with every parameter for adjacent: see sample_neighbours.
/// @throws argument_error if there is no configuration of this number, and what
///         search_space::size() throws
std::vector<std::size_t> neighbours(const search_space& space, std::size_t index,
                                    neighbourhood kind);

/// count different neighbours, or all if there are fewer, every choice and order of them equally
/// likely. Depends on nothing but the space and the numbers drawn. Never lists many neighbours to
/// find a few.
/// @throws what neighbours throws
std::vector<std::size_t> sample_neighbours(const search_space& space, std::size_t index,
                                           neighbourhood kind, std::size_t count,
                                           detail::random_source& random);

/// One neighbour, each equally likely; empty if there is none.
/// @throws what neighbours throws
std::optional<std::size_t> random_neighbour(const search_space& space, std::size_t index,
                                            neighbourhood kind, detail::random_source& random);

/// The configuration whose candidates' indices are closest to a point, by the sum of the squared
/// differences over all parameters. Of several equally close ones, the same each time; empty if the
/// space is. Strategies that calculate with configurations repair the result by it.
/// @param space  whose configurations are looked for
/// @param point  an index for each parameter, which need neither be whole nor be one of a candidate
/// @throws argument_error if the point has not one finite number for each parameter, and what
///         search_space::size() throws
std::optional<std::size_t> closest(const search_space& space, std::span<const double> point);

namespace detail {

/// All Hamming neighbours of a configuration in random order, in which parameters take turns: a
/// parameter with thirty candidates does not crowd out one with two.
std::vector<std::size_t> neighbours_by_turns(const search_space& space, std::size_t index,
                                             random_source& random);

/// The closest configuration to a point, or one a few random steps from there if that has been
/// tried; empty if all of these have been.
/// @param point  an index of a candidate for each parameter, as closest() takes it
std::optional<std::size_t> untried_near(const search_space& space, std::span<const double> point,
                                        const std::function<bool(std::size_t)>& tried,
                                        random_source& random);

}  // namespace detail
}  // namespace tune
