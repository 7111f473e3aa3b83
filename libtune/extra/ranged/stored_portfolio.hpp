// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/ranged/portfolio_builder.hpp"

namespace tune::detail {

/// The column of results that are portfolios.
inline constexpr const char* portfolio_column = "portfolio";

/// A portfolio in the form of the database.
struct stored_portfolio {
  std::vector<size_range> ranges{};                        ///< measured, in the order of the key
  std::vector<std::vector<named_value>> configurations{};  ///< the last works at any size
  size_tree tree{};
  std::vector<cost_factors> factors{};  ///< factors of the configurations; empty: the tree chooses
  cost_corrections corrections{};       ///< corrections of the predicted times
  leaf_orders orders{};                 ///< orders of the tree's nodes; empty: their own
  std::vector<proven_sizes> proven{};   ///< in the order of the sizes
  /// Sizes, also outside of the ranges, that were not measured: nothing works there, or they were
  /// too many.
  std::vector<std::vector<std::uint64_t>> left{};
  double expected_loss = 0;
  double worst_loss = 0;
  std::size_t sizes = 0;
  std::size_t compared = 0;
  std::size_t unchecked = 0;  ///< leaves (without a tree: configurations) that are not checked

  /// The portfolio as JSON on one line.
  std::string text() const;
  /// @throws argument_error unless the text is a portfolio of tunings with these fields
  static stored_portfolio parse(const std::string& text,
                                const std::vector<field_description>& fields);
  /// The portfolio of a result. @throws argument_error if it has none, or as parse does
  static stored_portfolio of_result(const std::vector<named_value>& result,
                                    const std::vector<field_description>& fields);
  /// The portfolio as a result.
  std::vector<named_value> result() const { return {{portfolio_column, text()}}; }
};

/// Returns the losses in words: "1.2 % slower than tuning each size, 4.5 % at most at nine of ten".
std::string describe_losses(double expected, double worst);

/// Returns a line for users about a stored result with a portfolio; empty for other results.
std::optional<std::string> describe_portfolio(const std::vector<named_value>& result);

/// Returns a line for users about each tuning of a stored result with a portfolio; empty for other
/// results.
std::vector<std::string> describe_tunings(const std::vector<named_value>& result);

/// Returns the sizes that a stored portfolio does not cover: in no range, neither measured nor
/// left. Returns all for other results.
std::vector<asked_sizes> unproven_sizes(const std::vector<named_value>& result,
                                        std::vector<asked_sizes> asked);

}  // namespace tune::detail
