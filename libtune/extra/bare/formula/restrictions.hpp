// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "libtune/extra/bare/formula/syntax.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune::detail::formulas {

/// The operands that `and` joins at the top of a formula; the root without an `and`.
std::vector<node_index> parts_of(const formula& of);

/// See expression::restrictions.
std::vector<restriction> make_restrictions(const std::shared_ptr<const formula>& of,
                                           const std::vector<parameter>& parameters);

}  // namespace tune::detail::formulas
