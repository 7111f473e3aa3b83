// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/telescope/correlate/correlate.hpp"

namespace tune::operations {

/// Tuning key: the copies of the accumulators.
struct correlate_reduce_key {
  std::size_t copies = 1;  ///< copies of the accumulators
};

/// The division of the visibilities among work groups and work items.
struct correlate_reduce_tuning {
  std::size_t wgs = 128;  ///< work items of a group
  std::size_t items = 1;  ///< visibilities for each work item
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::correlate_reduce_key, copies)
LIBTUNE_FIELDS(tune::operations::correlate_reduce_tuning, wgs, items)

namespace tune::operations {

/// The value that correlate_reduce writes for absent baselines.
inline constexpr std::int32_t absent_re = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int32_t absent_im = 1;  ///< the imaginary part of that value

/// Makes a dump of correlate's accumulators: adds the copies of the accumulators, and clamps real
/// and imaginary parts to +-(2^31 - 1). Made by correlate_reduce_template.
///
/// Slots, none of which may be padded:
/// - visibilities: int64, copies x channels x baselines x 4 x {re, im}, as in correlate; only read;
/// - absent: uint8, baselines: not 0 for baselines whose visibilities become (absent_re,
///   absent_im). Set its contents before the first run;
/// - out: int32, channels x (4 * baselines) x {re, im}: overwritten;
/// - clamped: uint32, 1: the number of visibilities with a clamped part, absent baselines excluded;
///   overwritten.
class correlate_reduce final : public operation {
 public:
  /// For correlate_reduce_template, which compiled the program for this tuning.
  correlate_reduce(const command_queue& queue, const program& program,
                   const correlate_reduce_tuning& tuning, std::size_t antennas,
                   std::size_t channels, std::size_t copies);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  correlate_reduce_tuning tuning_;
  std::uint64_t channels_;
  std::uint64_t products_;  // number in a channel
  std::uint32_t copies_;
  slot_ref<std::int64_t> visibilities_;
  slot_ref<std::uint8_t> absent_;
  slot_ref<std::int32_t> out_;
  slot_ref<std::uint32_t> clamped_;
  nd_range range_;
};

/// The kernel that makes dumps, compiled and tuned for a context. Immutable, so thread-safe.
class correlate_reduce_template {
 public:
  /// Looks up the tuning in the database; without one it searches, and stores it.
  static const autotuner<correlate_reduce_key, correlate_reduce_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context  compiles the kernel, and tunes it
  /// @param copies   the approximate number of copies of the accumulators, for the tuning.
  ///                 Operations may have any other number.
  /// @param tuning   empty: autotune finds it
  /// @throws the errors of autotuner and compile
  explicit correlate_reduce_template(
      const context& context, std::size_t copies = 1,
      const std::optional<correlate_reduce_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const correlate_reduce_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for accumulators of one shape.
  /// @param queue     a queue of the template's context
  /// @param antennas  the number in the correlation
  /// @param channels  the number in the correlation
  /// @param copies    correlate::copies() of the operation that fills the accumulators
  /// @throws argument_error if a number is 0, or for more channels than a launch can have groups
  correlate_reduce instantiate(const command_queue& queue, std::size_t antennas,
                               std::size_t channels, std::size_t copies = 1) const;

 private:
  correlate_reduce_tuning tuning_;
  program program_;
};

/// The search space.
space<correlate_reduce_tuning> tuning_space(const correlate_reduce_key& key);

}  // namespace tune::operations
