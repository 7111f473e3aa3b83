// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/search/combination.hpp"
#include "libtune/search/parameter.hpp"

namespace tune::detail {

/// A restriction without the function: see tune::restriction.
struct restriction_outline {
  std::string description;
  std::optional<std::vector<std::size_t>> reads;
};

/// What is left of a Cartesian product. A combination is numbered by its position in the product,
/// in which the last parameter varies fastest.
struct enumeration {
  std::vector<std::size_t> allowed;  ///< ascending
  std::vector<std::size_t> removed;  ///< for each restriction; with allowed, the whole product
};

/// Visits the product depth first and turns back as soon as a restriction that has what it reads
/// says no. Among the restrictions that can be asked at one depth, the order is that of the list;
/// a removed combination counts for the first that said no.
/// @throws error      if a restriction throws, with its exception nested; the text names both
/// @throws argument_error  if a restriction is found to read more than it has declared, which is
///                         looked for at a few hundred combinations
enumeration enumerate(std::span<const parameter> parameters,
                      std::span<const restriction_outline> restrictions, combination& at);

}  // namespace tune::detail
