// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/search/search_space.hpp"

namespace tune {

/// Unambiguous text of what makes a space: parameters and candidates in their order, with their
/// types; what each restriction is called and how many combinations it removed; the size. Two
/// spaces with equal texts are equal, unless a restriction was changed in such a way that it
/// removes as many combinations as before, but others. Enumerates the space, and may throw what
/// search_space::size() throws.
std::string canonical_text(const search_space& space);

}  // namespace tune
