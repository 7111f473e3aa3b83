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

/// A portfolio as a database has it.
struct stored_portfolio {
  std::vector<size_range> ranges{};                        ///< measured, in the order of the key
  std::vector<std::vector<named_value>> configurations{};  ///< the last works at any size
  size_tree tree{};
  std::vector<cost_factors> factors{};  ///< of the configurations; empty: the tree chooses
  cost_corrections corrections{};       ///< of the times that are predicted
  leaf_orders orders{};                 ///< of the tree's nodes; empty: the others in their order
  std::vector<proven_sizes> proven{};   ///< in the order of the sizes
  /// Outside of the ranges too, and not measured: nothing works there, or they were too many.
  std::vector<std::vector<std::uint64_t>> left{};
  double expected_loss = 0;
  double worst_loss = 0;
  std::size_t sizes = 0;
  std::size_t compared = 0;
  std::size_t unchecked = 0;  ///< leaves, or without a tree configurations, that are not checked

  /// JSON on one line.
  std::string text() const;
  /// @throws argument_error if it is not the text of a portfolio of tunings with these fields
  static stored_portfolio parse(const std::string& text,
                                const std::vector<field_description>& fields);
  /// Of a result. @throws argument_error if it is none, or as parse does
  static stored_portfolio of_result(const std::vector<named_value>& result,
                                    const std::vector<field_description>& fields);
  /// As a result.
  std::vector<named_value> result() const { return {{portfolio_column, text()}}; }
};

/// Says the losses of a portfolio: "1.2 % slower than tuning each size, 4.5 % at most at nine of
/// ten".
std::string describe_losses(double expected, double worst);

/// Returns a line for people about a stored result that is a portfolio; empty if it is none.
std::optional<std::string> describe_portfolio(const std::vector<named_value>& result);

/// Returns a line for people about each tuning of a stored result that is a portfolio; none if it
/// is none.
std::vector<std::string> describe_tunings(const std::vector<named_value>& result);

/// Returns those of these sizes that a stored result, a portfolio, knows nothing of: in no range,
/// neither measured nor left. All if it is none.
std::vector<asked_sizes> unproven_sizes(const std::vector<named_value>& result,
                                        std::vector<asked_sizes> asked);

}  // namespace tune::detail
