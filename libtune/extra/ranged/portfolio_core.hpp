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
#include <vector>

#include "libtune/extra/ranged/portfolio_builder.hpp"
#include "libtune/extra/ranged/stored_portfolio.hpp"

namespace tune::detail {

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
  struct alignas(64) entry {
    std::atomic<std::uint32_t> version{0};  // odd while a thread writes; 0: nothing was written
    std::atomic<std::uint32_t> choice{0};
    std::array<std::atomic<std::uint64_t>, most_ranges> sizes{};
    std::atomic<std::uint64_t> count{0};
  };

  /// Two, either of which sizes can have.
  static std::array<std::size_t, 2> places_of(std::uint64_t hash) noexcept {
    return {hash % most, (hash >> 40) % most};
  }
  entry& entry_for(std::uint64_t hash) noexcept;

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
