// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"

namespace diffusion {

/// The way in which the kernel reads the field.
enum class variant {
  naive,   ///< each point and its neighbours directly from global memory
  shared,  ///< through local memory
  tiled,   ///< through local memory, several points for each work item
};

struct diffusion_key {
  variant kernel = variant::naive;
  int size = 1024;  ///< rows and columns of the field for the tuning
};

struct diffusion_tuning {
  int block_size_x = 1;
  int block_size_y = 1;
  int tile_size_x = 1;
  int tile_size_y = 1;
};

}  // namespace diffusion

LIBTUNE_ENUM(diffusion::variant, naive, shared, tiled)
LIBTUNE_FIELDS(diffusion::diffusion_key, kernel, size)
LIBTUNE_FIELDS(diffusion::diffusion_tuning, block_size_x, block_size_y, tile_size_x, tile_size_y)

namespace diffusion {

/// The time step; the grid spacing is 1.
inline constexpr float time_step = 0.225F;

/// One step: u_new = u + dt (sum of the 4 neighbours - 4 u) inside; the boundary of u_new is not
/// changed. Slots u and u_new, float32, rows x columns, without padded rows.
class diffusion_operation final : public tune::operation {
 public:
  diffusion_operation(const tune::command_queue& queue, const tune::program& program,
                      const diffusion_tuning& tuning, std::size_t rows, std::size_t columns);

  /// Uses the output as the input of the next step.
  void swap();

 private:
  void do_run() override;

  tune::kernel kernel_;
  tune::slot_ref<> u_new_;
  tune::slot_ref<> u_;
  unsigned width_;
  unsigned height_;
  tune::nd_range range_;
};

/// Compiles the kernel for a context, tuned for it.
class diffusion_template {
 public:
  static const tune::autotuner<diffusion_key, diffusion_tuning> autotune;

  explicit diffusion_template(const tune::context& context, const diffusion_key& key = {},
                              const std::optional<diffusion_tuning>& tuning = std::nullopt);

  const diffusion_tuning& tuning() const noexcept { return tuning_; }
  /// The program in the device's own form.
  std::vector<std::byte> binary() const { return program_.binary(); }
  diffusion_operation instantiate(const tune::command_queue& queue, std::size_t rows,
                                  std::size_t columns) const;

 private:
  diffusion_tuning tuning_;
  tune::program program_;
};

/// The search space.
tune::space<diffusion_tuning> tuning_space(variant kernel);

}  // namespace diffusion
