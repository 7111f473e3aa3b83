// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// The instruction that multiplies voltages. All give the same results.
enum class correlate_instruction : std::uint8_t {
  plain,      ///< products of 32 bits, on any device
  dp4a,       ///< four products of bytes at once: CUDA from compute capability 6.1 on; emulated on
              ///< other devices
  mma_k16,    ///< tensor cores, 16 x 8 x 16 products of bytes at once: CUDA from 8.0 on
  mma_k32,    ///< tensor cores, 16 x 8 x 32 products of bytes at once: CUDA from 8.0 on
  wgmma_k32,  ///< tensor cores, 64 x 64 x 32 products of bytes at once, by four warps: CUDA 9.0
};

/// Tuning key: the sizes and bits of a correlation.
struct correlate_key {
  std::size_t antennas = 64;   ///< A
  std::size_t channels = 512;  ///< C
  std::size_t spectra = 256;   ///< H, of a batch
  std::size_t bits = 8;        ///< bits of the real and of the imaginary part of a voltage: 8 or 4
};

/// The division of the baselines and of the time among work groups, and within one of them. A warp
/// is 32 work items, on every device.
struct correlate_tuning {
  /// The multiplying instruction.
  correlate_instruction instruction = correlate_instruction::plain;
  std::size_t tile_m = 1;  ///< a warp's tile: this many times 8 antennas a2. With wgmma_k32 four
                           ///< warps have one tile, with 4 or 8 times four
  std::size_t tile_n = 1;  ///< by this many times 8 antennas a1
  std::size_t warps = 4;   ///< the most in a group; with wgmma_k32 groups of four warps
  std::size_t steps = 1;   ///< steps of 16 spectra, moved to local memory at a time
  std::size_t stages = 2;  ///< parts of local memory, one of them in use; with wgmma_k32 and 8 one
                           ///< more than those being loaded in registers, 2 or 3
  std::size_t resident = 1;  ///< groups for which a compute unit has registers (CUDA)
  std::size_t slack = 0;     ///< the greatest lead of a warp in a group, in chunks; 0: all warps
                             ///< wait after each chunk (CUDA from 8.0 on, unless it prepares)
  bool prepares = false;     ///< a group sorts and rotates words once, in local memory, instead of
                             ///< each warp in registers; always with wgmma_k32
  bool atomics = false;      ///< on CUDA the memory adds to the accumulators, not the work items
  std::size_t waves = 2;     ///< time is split until each compute unit has this many groups
};

}  // namespace tune::operations

LIBTUNE_ENUM(tune::operations::correlate_instruction, plain, dp4a, mma_k16, mma_k32, wgmma_k32)
LIBTUNE_FIELDS(tune::operations::correlate_key, antennas, channels, spectra, bits)
LIBTUNE_FIELDS(tune::operations::correlate_tuning, instruction, tile_m, tile_n, warps, steps,
               stages, resident, slack, prepares, atomics, waves)

namespace tune::operations {

/// The number of pairs of antennas a1 <= a2, including an antenna with itself.
constexpr std::size_t baseline_count(std::size_t antennas) noexcept {
  return antennas * (antennas + 1) / 2;
}
/// The index of a pair of antennas in the baselines; a1 <= a2.
constexpr std::size_t baseline_index(std::size_t a1, std::size_t a2) noexcept {
  return a2 * (a2 + 1) / 2 + a1;
}

/// A range of the batches of an array.
struct batch_range {
  std::size_t begin = 0;  ///< the index of the first
  std::size_t end = 0;    ///< the index after the last
};

/// Correlates the voltages of antennas with two polarisations, and sums the products over time:
///   V[c][baseline_index(a1, a2)][2 p2 + p1] += sum of x[a1][c][p1] * conj(x[a2][c][p2])
/// for all a1 <= a2, over the spectra of a range of batches. Integers, exact. Made by
/// correlate_template.
///
/// Slots, none of which may be padded:
/// - in: int8, batches x antennas x channels x spectra x 2 polarisations x {re, im}. -128 must not
///   occur, because its negative is not an int8, and results would be wrong. With 4 bits uint8,
///   without the last axis: the real part in the high four bits, as quantise makes them; -8 must
///   not occur;
/// - visibilities: int64, copies() x channels x baselines x 4 x {re, im}: added to. Call zero() at
///   the start of a dump. The sum over the copies is the result; correlate_reduce adds them.
///
/// The accumulators overflow only after 2^63 / (2 * 127^2) spectra.
class correlate final : public operation {
 public:
  /// For correlate_template, which compiled the program for this tuning and key.
  correlate(const command_queue& queue, const program& program, const correlate_tuning& tuning,
            const correlate_key& key, std::size_t batches);

  /// The batches that the next runs add: all, unless set_batches was called.
  const batch_range& batches() const noexcept { return batches_; }
  /// Makes the next runs add the batches of a range; it may be empty. Allocates nothing.
  /// @throws argument_error unless the range is within the batches of the slot in
  void set_batches(const batch_range& range);

  /// The number of copies of the accumulators. Each copy has a part of the time. 1 if the channels
  /// and baselines alone keep the device busy.
  std::size_t copies() const noexcept { return copies_; }

  /// Enqueues setting all accumulators to 0, on queue(). Allocates nothing if they are bound.
  /// @throws argument_error if the queue no longer exists, device_error
  void zero();

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  correlate_tuning tuning_;
  correlate_key key_;
  std::size_t slot_batches_;
  std::size_t copies_;
  batch_range batches_;
  slot_ref<> in_;
  slot_ref<std::int64_t> visibilities_;
  nd_range range_;
};

/// The kernel of a correlation, compiled and tuned for a context. Immutable, so thread-safe.
class correlate_template {
 public:
  /// Looks up the tuning for a correlation in the database; without one it searches, and stores it.
  static const autotuner<correlate_key, correlate_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context  compiles the kernel, and tunes it
  /// @param key      the antennas, channels and spectra of a batch. Spectra must be a multiple of
  ///                 16
  /// @param tuning   empty: autotune finds it
  /// @throws argument_error if a size is 0, or the spectra are not a multiple of 16; the errors of
  ///         autotuner and compile
  correlate_template(const context& context, const correlate_key& key,
                     const std::optional<correlate_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const correlate_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for a number of batches, on a queue of the template's context.
  /// @throws argument_error for more channels than a launch can have groups
  correlate instantiate(const command_queue& queue, std::size_t batches) const;

 private:
  correlate_key key_;
  correlate_tuning tuning_;
  program program_;
};

/// The search space on a device: configurations with its fastest instruction.
space<correlate_tuning> tuning_space(const correlate_key& key, const device& device);

}  // namespace tune::operations
