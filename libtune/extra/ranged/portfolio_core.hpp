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

/// Counts requested sizes, without locks and allocations, as long as there is room for new ones.
/// Thread-safe.
class size_tally {
 public:
  static constexpr std::size_t most = 128;      ///< different sizes at most
  static constexpr std::size_t most_tries = 4;  ///< possible slots of a size

  /// Adds to the count of sizes. Returns false without room for them.
  bool count(std::span<const std::uint64_t> sizes, std::uint64_t times = 1) noexcept;
  /// Returns the sizes and their counts since the last call.
  std::vector<asked_sizes> take();

 private:
  struct slot {
    std::atomic<bool> is_ready{false};
    std::uint8_t length = 0;
    std::array<std::uint64_t, most_ranges> sizes{};
    std::atomic<std::uint64_t> count{0};
  };

  /// A part of the hash of the sizes in each slot, to skip others without comparing sizes; 0: the
  /// slot is free.
  std::array<std::atomic<std::uint32_t>, most> tags_{};
  std::array<slot, most> slots_;
};

/// The choices for the latest sizes, and their counts, without locks and allocations. Thread-safe;
/// while sizes replace others a count may be lost or go to the wrong ones.
class choice_cache {
 public:
  static constexpr std::size_t most = 1024;  ///< sizes at most

  /// Sizes and their count.
  struct counted {
    std::array<std::uint64_t, most_ranges> sizes{};  ///< the given sizes, then zeros
    std::uint64_t count = 0;                         ///< 0: none
  };

  /// Returns the choice for these sizes, if cached, and counts them.
  /// @param hash  of the sizes; the same function in all calls
  std::optional<std::size_t> find(std::span<const std::uint64_t> sizes,
                                  std::uint64_t hash) noexcept;
  /// Caches a choice with a count of one in place of another, unless another thread is writing.
  /// Returns the sizes that cannot be counted here, possibly these.
  counted remember(std::span<const std::uint64_t> sizes, std::uint64_t hash,
                   std::size_t choice) noexcept;
  /// Returns the sizes and counts since the last call.
  std::vector<counted> take();

 private:
  struct alignas(64) entry {
    std::atomic<std::uint32_t> version{0};  // odd while a thread writes; 0: empty
    std::atomic<std::uint32_t> choice{0};
    std::array<std::atomic<std::uint64_t>, most_ranges> sizes{};
    std::atomic<std::uint64_t> count{0};
  };

  /// The two possible slots of sizes.
  static std::array<std::size_t, 2> places_of(std::uint64_t hash) noexcept {
    return {hash % most, (hash >> 40) % most};
  }
  entry& entry_for(std::uint64_t hash) noexcept;

  std::array<entry, most> entries_{};
};

/// A portfolio in use. Thread-safe.
class portfolio_core {
 public:
  /// Receives the requested sizes. Must not throw.
  using listener = std::function<void(const portfolio_core&, const std::vector<asked_sizes>&)>;

  /// @param asked  called by note_sizes, and at the end, with sizes requested since; may be empty
  portfolio_core(stored_portfolio stored, size_features features, listener asked);
  ~portfolio_core();
  portfolio_core(const portfolio_core&) = delete;
  portfolio_core& operator=(const portfolio_core&) = delete;

  const stored_portfolio& stored() const noexcept { return stored_; }
  /// See portfolio::choose. All calls pass the same functions, because choices are cached.
  std::size_t choose(std::span<const std::uint64_t> sizes,
                     const std::function<bool(std::size_t)>& fits,
                     std::span<const cost_function> costs) const noexcept;
  /// See portfolio::note_sizes.
  void note_sizes() const;
  /// True if these sizes have been measured because programs had requested them.
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
  std::bitset<1024> has_proven_;  // bits by hash: a quick test that most other sizes fail
  listener asked_;
  mutable size_tally exact_;
  // Rounded sizes in the ranges, once there are too many different ones.
  mutable size_tally rounded_;
  mutable choice_cache chosen_;
};

}  // namespace tune::detail
