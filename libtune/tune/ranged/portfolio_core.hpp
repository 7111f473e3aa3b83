// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/search/portfolio/portfolio_builder.hpp"

namespace tune::detail {

/// The column of results that are portfolios.
inline constexpr const char* portfolio_column = "portfolio";

/// A portfolio as a database has it.
struct stored_portfolio {
  std::vector<size_range> ranges{};                        ///< measured, in the order of the key
  std::vector<std::vector<named_value>> configurations{};  ///< the last is the test default
  size_tree tree{};
  double expected_loss = 0;
  double worst_loss = 0;
  std::size_t sizes = 0;
  std::size_t compared = 0;

  /// JSON on one line.
  std::string text() const;
  /// @throws argument_error if it is not the text of a portfolio of tunings with these fields
  static stored_portfolio parse(const std::string& text,
                                const std::vector<field_description>& fields);
};

/// Returns a line for people about a stored result that is a portfolio; empty if it is none.
std::optional<std::string> describe_portfolio(const std::vector<named_value>& result);

/// Counts sizes that are asked for, without a lock and without an allocation: the first few
/// different ones, all others not. Thread-safe.
class size_tally {
 public:
  static constexpr std::size_t most = 64;

  void count(std::span<const std::uint64_t> sizes) noexcept;
  /// The sizes and their counts so far.
  std::vector<asked_sizes> all() const;

 private:
  enum state : std::uint8_t { empty, writing, ready };
  struct slot {
    std::atomic<std::uint8_t> state{empty};
    std::uint8_t length = 0;
    std::array<std::uint64_t, most_ranges> sizes{};
    std::atomic<std::uint64_t> count{0};
  };

  std::array<slot, most> slots_;
};

/// A portfolio in use. Thread-safe.
class portfolio_core {
 public:
  /// @param outside  called at the end with the sizes that were asked for and are in no range; may
  ///                 be empty. Does not throw
  portfolio_core(stored_portfolio stored, size_features features,
                 std::function<void(const std::vector<asked_sizes>&)> outside);
  ~portfolio_core();
  portfolio_core(const portfolio_core&) = delete;
  portfolio_core& operator=(const portfolio_core&) = delete;

  const stored_portfolio& stored() const noexcept { return stored_; }
  /// See portfolio::choose.
  std::size_t choose(std::span<const std::uint64_t> sizes,
                     const std::function<bool(std::size_t)>& fits) const noexcept;

 private:
  bool is_inside(std::span<const std::uint64_t> sizes) const noexcept;

  stored_portfolio stored_;
  size_features features_;
  std::function<void(const std::vector<asked_sizes>&)> outside_;
  mutable size_tally asked_outside_;
};

}  // namespace tune::detail
