// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two operations on the rows of an array, and a pipeline of two of each.
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/libtune.hpp"

namespace smoothing {

struct scale_key {
  tune::dtype type = tune::dtype::float32;
};
struct window_key {
  int window = 8;  ///< the number of elements in a sum
};
struct row_tuning {
  int wgs = 64;  ///< work items of a group, along a row
};

}  // namespace smoothing

LIBTUNE_FIELDS(smoothing::scale_key, type)
LIBTUNE_FIELDS(smoothing::window_key, window)
LIBTUNE_FIELDS(smoothing::row_tuning, wgs)

namespace smoothing {

/// dest = src * factor. Slots src and dest, float32, rows x columns.
class scale_operation final : public tune::operation {
 public:
  scale_operation(const tune::command_queue& queue, const tune::program& program, row_tuning tuning,
                  tune::shape size, float factor);

 private:
  void do_run() override;
  std::vector<tune::named_value> do_parameters() const override;

  tune::kernel kernel_;
  tune::slot_ref<float> src_;
  tune::slot_ref<float> dest_;
  tune::nd_range range_;
  float factor_;
};

class scale_template {
 public:
  static const tune::autotuner<scale_key, row_tuning> autotune;

  explicit scale_template(const tune::context& context, scale_key key = {},
                          std::optional<row_tuning> tuning = std::nullopt);

  scale_operation instantiate(const tune::command_queue& queue, tune::shape size,
                              float factor) const;

 private:
  row_tuning tuning_;
  tune::program program_;
};

/// dest[row, x] = src[row, x] + ... + src[row, x + window - 1]. Slots dest, float32,
/// rows x columns, and src with window - 1 columns more.
class window_operation final : public tune::operation {
 public:
  window_operation(const tune::command_queue& queue, const tune::program& program,
                   row_tuning tuning, tune::shape size, int window);

 private:
  void do_run() override;
  std::vector<tune::named_value> do_parameters() const override;

  tune::kernel kernel_;
  tune::slot_ref<float> src_;
  tune::slot_ref<float> dest_;
  tune::nd_range range_;
  int window_;
};

class window_template {
 public:
  static const tune::autotuner<window_key, row_tuning> autotune;

  explicit window_template(const tune::context& context, window_key key = {},
                           std::optional<row_tuning> tuning = std::nullopt);

  int window() const noexcept { return key_.window; }
  /// @param size  the shape of the sums
  window_operation instantiate(const tune::command_queue& queue, tune::shape size) const;

 private:
  window_key key_;
  row_tuning tuning_;
  tune::program program_;
};

/// samples -> gain -> scaled -> smooth -> smoothed -> normalise -> normalised -> trend -> sums:
/// each row is doubled, smoothed by a sliding mean, and summed over windows.
/// @param size      rows and columns of the sums; the samples have 2 (window - 1) columns more
/// @param aliasing  true if scaled and normalised, which are never in use at the same time, share
///                  memory
tune::operation_sequence make_pipeline(const tune::command_queue& queue,
                                       const scale_template& scale, const window_template& window,
                                       tune::shape size, bool aliasing);

/// Returns the result of the pipeline, computed on the host.
tune::host_array<float> smooth_on_host(const tune::host_array<float>& samples, int window);

}  // namespace smoothing
