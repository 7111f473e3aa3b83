// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <bitset>
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
  std::vector<std::vector<named_value>> configurations{};  ///< the last works at any size
  size_tree tree{};
  std::vector<cost_factors> factors{};  ///< of the configurations; empty: the tree chooses
  leaf_orders orders{};                 ///< of the tree's nodes; empty: the others in their order
  std::vector<proven_sizes> proven{};   ///< in the order of the sizes
  /// Outside of the ranges too, and not measured: nothing works there, or they were too many.
  std::vector<std::vector<std::uint64_t>> left{};
  double expected_loss = 0;
  double worst_loss = 0;
  std::size_t sizes = 0;
  std::size_t compared = 0;
  std::size_t unchecked = 0;  ///< leaves that there was no time to check

  /// JSON on one line.
  std::string text() const;
  /// @throws argument_error if it is not the text of a portfolio of tunings with these fields
  static stored_portfolio parse(const std::string& text,
                                const std::vector<field_description>& fields);
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

/// Counts sizes that are asked for, without a lock and without an allocation: different ones as
/// long as there is room. Thread-safe.
class size_tally {
 public:
  static constexpr std::size_t most = 128;      ///< different sizes at most
  static constexpr std::size_t most_tries = 4;  ///< places that sizes can have

  /// Counts sizes, so many times. Returns false if there is no room for them.
  bool count(std::span<const std::uint64_t> sizes, std::uint64_t times = 1) noexcept;
  /// Returns the sizes and their counts since the last time.
  std::vector<asked_sizes> take();

 private:
  struct slot {
    std::atomic<bool> is_ready{false};
    std::uint8_t length = 0;
    std::array<std::uint64_t, most_ranges> sizes{};
    std::atomic<std::uint64_t> count{0};
  };

  /// A part of the hash of the sizes in each slot, so that others are passed over without a look at
  /// them; 0: the slot is free.
  std::array<std::atomic<std::uint32_t>, most> tags_{};
  std::array<slot, most> slots_;
};

/// The choices for the last sizes, and how often each was asked for, without a lock and without an
/// allocation. Thread-safe; while sizes give way to others a count may go to those, or be lost.
class choice_cache {
 public:
  static constexpr std::size_t most = 1024;  ///< sizes at most

  /// Sizes, and how often they were asked for.
  struct counted {
    std::array<std::uint64_t, most_ranges> sizes{};  ///< as many as were given, then zeros
    std::uint64_t count = 0;                         ///< 0: none
  };

  /// Returns the choice for these sizes, if it is known, and counts them.
  /// @param hash  of the sizes, the same in all calls
  std::optional<std::size_t> find(std::span<const std::uint64_t> sizes,
                                  std::uint64_t hash) noexcept;
  /// Remembers a choice, asked for once, in place of another one, unless another thread does so.
  /// Returns those that cannot be counted here, which may be these.
  counted remember(std::span<const std::uint64_t> sizes, std::uint64_t hash,
                   std::size_t choice) noexcept;
  /// Returns the sizes that were asked for since the last time.
  std::vector<counted> take();

 private:
  // Odd while a thread writes; 0: nothing was written.
  struct alignas(64) entry {
    std::atomic<std::uint32_t> version{0};
    std::atomic<std::uint32_t> choice{0};
    std::array<std::atomic<std::uint64_t>, most_ranges> sizes{};
    std::atomic<std::uint64_t> count{0};
  };

  std::array<entry, most> entries_{};
};

/// A portfolio in use. Thread-safe.
class portfolio_core {
 public:
  /// Takes sizes that were asked for. Does not throw.
  using listener = std::function<void(const portfolio_core&, const std::vector<asked_sizes>&)>;

  /// @param asked  called by note_sizes, and at the end, if sizes were asked for since; may be
  /// empty
  portfolio_core(stored_portfolio stored, size_features features, listener asked);
  ~portfolio_core();
  portfolio_core(const portfolio_core&) = delete;
  portfolio_core& operator=(const portfolio_core&) = delete;

  const stored_portfolio& stored() const noexcept { return stored_; }
  /// See portfolio::choose. The functions are the same in all calls, since choices are kept.
  std::size_t choose(std::span<const std::uint64_t> sizes,
                     const std::function<bool(std::size_t)>& fits,
                     std::span<const cost_function> costs) const noexcept;
  /// See portfolio::note_sizes.
  void note_sizes() const;
  /// True if these sizes have been measured, since they had been asked for.
  bool is_proven(std::span<const std::uint64_t> sizes) const noexcept;

 private:
  using places = std::span<const std::uint32_t>;

  std::size_t find_choice(std::span<const std::uint64_t> sizes, std::uint64_t hash,
                          const std::function<bool(std::size_t)>& fits,
                          std::span<const cost_function> costs) const noexcept;
  void count(std::span<const std::uint64_t> sizes, std::uint64_t times) const noexcept;
  const proven_sizes* find_proven(std::span<const std::uint64_t> sizes,
                                  std::uint64_t hash) const noexcept;

  stored_portfolio stored_;
  size_features features_;
  std::bitset<1024> has_proven_;  // by hashes: most other sizes are not looked for among them
  listener asked_;
  mutable size_tally exact_;
  mutable size_tally rounded_;  // in the ranges, where there are too many different ones
  mutable choice_cache chosen_;
};

}  // namespace tune::detail
