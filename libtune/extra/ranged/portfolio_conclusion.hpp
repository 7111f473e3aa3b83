// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "libtune/extra/ranged/comparisons.hpp"
#include "libtune/extra/ranged/portfolio_builder.hpp"
#include "libtune/extra/ranged/sample_places.hpp"

namespace tune {

/// Makes the portfolio of a fitted choice: estimates its losses, checks its choices, ends with the
/// fallback, and adds the choice at requested sizes.
class portfolio_conclusion {
 public:
  /// All references must outlive it.
  portfolio_conclusion(const portfolio_plan& plan, const comparisons& compared,
                       const sample_places& places, portfolio_source& from)
      : plan_(plan), compared_(compared), places_(places), from_(from) {}

  /// @param left_out  the losses of the choice at left-out samples
  /// @param audits    at new sizes
  built_portfolio make(const portfolio_fit& fit, const std::vector<double>& left_out,
                       std::span<const comparisons::audited> audits);

 private:
  built_portfolio estimate(const portfolio_fit& fit, const std::vector<double>& left_out,
                           std::span<const comparisons::audited> audits) const;
  /// True if every size of the ranges has been compared.
  bool has_all_sizes() const;
  std::vector<double> losses_of(const portfolio_fit& fit) const;
  /// Makes the fallback the last configuration, and allows it to be chosen.
  void end_with_fallback(built_portfolio& made) const;
  /// Returns the numbers of the configurations of a portfolio.
  comparisons::numbers numbers_of(const built_portfolio& made) const;
  /// Sets the choice at sizes that were requested and measured: the fastest configuration there
  /// that works. If there is no time to check it, the leaf or the costs choose inside the ranges,
  /// and the fallback is chosen outside.
  void choose_where_asked(built_portfolio& made) const;

  const std::vector<portfolio_source::configuration>& configurations() const {
    return compared_.configurations();
  }
  const size_times& times() const { return compared_.times(); }
  const std::vector<size_list>& sizes() const { return compared_.sizes(); }

  const portfolio_plan& plan_;
  const comparisons& compared_;
  const sample_places& places_;
  portfolio_source& from_;
};

}  // namespace tune
