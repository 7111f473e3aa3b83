// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/libtune.hpp"

namespace poison {

struct square_root_key {
  int size = 1 << 16;  ///< elements for the tuning
};

struct square_root_tuning {
  int work_group = 64;
  int needless_rounds = 0;

  friend bool operator==(const square_root_tuning&, const square_root_tuning&) = default;
};

/// The fault of a configuration.
enum class fault {
  none,
  endless_loop,    ///< it never ends
  device_fault,    ///< it writes out of bounds
  wrong_result,    ///< it is the fastest of all, and wrong
  compiler_error,  ///< it does not compile
};

/// Four of the 32 configurations of the space are faulty, three of them seemingly among the
/// fastest.
fault fault_of(const square_root_tuning& tuning);

/// The search space.
tune::space<square_root_tuning> tuning_space();

/// True if the configuration works without needless work.
bool is_right_choice(const square_root_tuning& tuning);

}  // namespace poison

LIBTUNE_ENUM(poison::fault, none, endless_loop, device_fault, wrong_result, compiler_error)
LIBTUNE_FIELDS(poison::square_root_key, size)
LIBTUNE_FIELDS(poison::square_root_tuning, work_group, needless_rounds)

namespace poison {

/// root = sqrt(x), elementwise. Slots root and x, float32, of n elements; x from 1 to 100.
class square_root final : public tune::operation {
 public:
  square_root(const tune::command_queue& queue, const tune::program& program,
              const square_root_tuning& tuning, std::size_t n);

 private:
  void do_run() override;

  tune::kernel kernel_;
  tune::slot_ref<> root_;
  tune::slot_ref<> x_;
  unsigned n_;
  tune::nd_range range_;
};

/// Compiles the kernel for a context, tuned for it.
class square_root_template {
 public:
  static const tune::autotuner<square_root_key, square_root_tuning> autotune;

  explicit square_root_template(const tune::context& context, const square_root_key& key = {},
                                const std::optional<square_root_tuning>& tuning = std::nullopt);

  const square_root_tuning& tuning() const noexcept { return tuning_; }
  square_root instantiate(const tune::command_queue& queue, std::size_t n) const;

 private:
  square_root_tuning tuning_;
  tune::program program_;
};

}  // namespace poison
