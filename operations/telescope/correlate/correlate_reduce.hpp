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

/// A reduction of accumulators, as far as the speed depends on it.
struct correlate_reduce_key {
  std::size_t copies = 1;  ///< of the accumulators
};

/// The division of the visibilities among work groups and work items.
struct correlate_reduce_tuning {
  std::size_t wgs = 128;  ///< work items of a group
  std::size_t items = 1;  ///< visibilities of a work item
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::correlate_reduce_key, copies)
LIBTUNE_FIELDS(tune::operations::correlate_reduce_tuning, wgs, items)

namespace tune::operations {

/// The value that correlate_reduce writes for absent baselines.
inline constexpr std::int32_t absent_re = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int32_t absent_im = 1;  ///< the imaginary part of the same

/// Makes a dump of what correlate has accumulated: adds up the copies of the accumulators, and
/// clamps real and imaginary parts to +-(2^31 - 1). Made by correlate_reduce_template.
///
/// Slots, none of which may be padded:
///  - visibilities: int64, copies x channels x baselines x 4 x {re, im}, as correlate has it; only
///    read;
///  - absent: uint8, baselines: other than 0 for those whose visibilities become
///    (absent_re, absent_im). Its contents have to be set before the first run;
///  - out: int32, channels x (4 * baselines) x {re, im}: overwritten;
///  - clamped: uint32, 1: the number of visibilities of which a part was clamped, without those of
///    absent baselines; overwritten.
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
  std::uint64_t products_;  // of a channel
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
  /// @param copies   about how many the accumulators have: what is tuned for. Operations may have
  ///                 any other number.
  /// @param tuning   nothing: the one that autotune finds
  /// @throws what autotuner and compile throw
  explicit correlate_reduce_template(
      const context& context, std::size_t copies = 1,
      const std::optional<correlate_reduce_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const correlate_reduce_tuning& tuning() const noexcept { return tuning_; }

  /// An operation for accumulators of one shape.
  /// @param queue     of the context that the template was made for
  /// @param antennas  as of the correlation
  /// @param channels  the same
  /// @param copies    correlate::copies() of the operation that fills the accumulators
  /// @throws argument_error if one of the numbers is 0, or the channels are more than a launch can
  ///         have groups
  correlate_reduce instantiate(const command_queue& queue, std::size_t antennas,
                               std::size_t channels, std::size_t copies = 1) const;

 private:
  correlate_reduce_tuning tuning_;
  program program_;
};

/// The configurations that are searched.
space<correlate_reduce_tuning> tuning_space(const correlate_reduce_key& key);

}  // namespace tune::operations
