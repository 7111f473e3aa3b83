// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/libtune.hpp"

namespace verification {

struct partial_sums_key {
  int count = 1 << 20;  ///< number of the numbers to add
};

struct partial_sums_tuning {
  int block_size = 128;
  int groups = 64;
  int vector = 1;
};

}  // namespace verification

LIBTUNE_FIELDS(verification::partial_sums_key, count)
LIBTUNE_FIELDS(verification::partial_sums_tuning, block_size, groups, vector)

namespace verification {

/// Adds numbers to one partial sum for each work group. Slots partial: groups, numbers: count;
/// float32.
class partial_sums final : public tune::operation {
 public:
  partial_sums(const tune::command_queue& queue, const tune::program& program,
               const partial_sums_tuning& tuning, std::size_t count);

 private:
  void do_run() override;

  tune::kernel kernel_;
  tune::slot_ref<> partial_;
  tune::slot_ref<> numbers_;
  unsigned count_;
  tune::nd_range range_;
};

/// Compiles the kernel for a context, tuned for it.
class partial_sums_template {
 public:
  static const tune::autotuner<partial_sums_key, partial_sums_tuning> autotune;

  explicit partial_sums_template(const tune::context& context, const partial_sums_key& key = {},
                                 const std::optional<partial_sums_tuning>& tuning = std::nullopt);

  const partial_sums_tuning& tuning() const noexcept { return tuning_; }
  partial_sums instantiate(const tune::command_queue& queue, std::size_t count) const;

 private:
  partial_sums_tuning tuning_;
  tune::program program_;
};

/// The search space.
tune::space<partial_sums_tuning> partial_sums_space();

/// Numbers in [0, 1), the same in each run.
tune::host_array<float> make_numbers(std::size_t count);
/// Their sum.
double sum_of(const tune::host_array<float>& numbers);

}  // namespace verification
