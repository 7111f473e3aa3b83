// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/telescope/unpack/packed_samples.hpp"

namespace tune::operations {

/// Tuning key: the bits of the samples and their unpacked type; both are compiled in.
struct unpack_key {
  std::size_t bits = 10;        ///< bits of a packed sample, 2 to 16
  dtype type = dtype::float32;  ///< the type of an unpacked sample: float32 or int16
};

/// The division of the samples among work groups and work items.
struct unpack_tuning {
  std::size_t wgs = 128;     ///< work items of a group
  std::size_t adjacent = 4;  ///< samples that an item unpacks at once
  std::size_t rounds = 1;    ///< repetitions of an item
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::unpack_key, bits, type)
LIBTUNE_FIELDS(tune::operations::unpack_tuning, wgs, adjacent, rounds)

namespace tune::operations {

/// Unpacks integers of 2 to 16 bits to int16 or float32, exactly. Made by unpack_template.
///
/// Slots samples: uint8, rows x packed_row_bytes(samples, bits), and out: rows x samples of the
/// key's type.
class unpack final : public operation {
 public:
  /// For unpack_template, which compiled the program for this tuning and key.
  unpack(const command_queue& queue, const program& program, const unpack_tuning& tuning,
         const unpack_key& key, std::size_t rows, std::size_t samples);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  unpack_key key_;
  unpack_tuning tuning_;
  slot_ref<> packed_;
  slot_ref<> out_;
  std::uint64_t rows_;
  std::uint64_t samples_;
};

/// The kernel that unpacks, compiled and tuned for a context. Immutable, so thread-safe.
class unpack_template {
 public:
  /// Looks up the tuning in the database; without one it searches, and stores it.
  static const autotuner<unpack_key, unpack_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @throws argument_error for invalid bits or another type than the key allows; the errors of
  ///         autotuner and compile
  explicit unpack_template(const context& context, const unpack_key& key = {},
                           const std::optional<unpack_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const unpack_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for a number of rows, with a number of samples each.
  unpack instantiate(const command_queue& queue, std::size_t rows, std::size_t samples) const;

 private:
  unpack_key key_;
  unpack_tuning tuning_;
  program program_;
};

/// The search space.
space<unpack_tuning> tuning_space(const unpack_key& key);

}  // namespace tune::operations
