// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A step of a pipeline whose test default is slow, so that tuning behind it leads to a swap.
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/extra/live.hpp"
#include "libtune/libtune.hpp"

namespace soak {

/// A key that no search has seen yet.
struct step_key {
  int number = 0;
};
struct step_tuning {
  std::size_t wgs = 64;
  int repeats = 1024;  // of work that changes nothing
};

}  // namespace soak

LIBTUNE_FIELDS(soak::step_key, number)
LIBTUNE_FIELDS(soak::step_tuning, wgs, repeats)

namespace soak {

constexpr std::size_t elements = 1 << 12;

/// Doubles each element: dest = 2 * src.
class step final : public tune::operation {
 public:
  step(const tune::command_queue& queue, const tune::program& program, std::size_t wgs);

 private:
  void do_run() override;

  tune::kernel kernel_;
  tune::io_slot& src_;
  tune::io_slot& dest_;
  tune::nd_range range_;
};

class step_template {
 public:
  static const tune::autotuner<step_key, step_tuning> autotune;

  step_template(const tune::context& context, const step_key& key, const step_tuning& tuning);
  step instantiate(const tune::command_queue& queue) const { return {queue, program_, wgs_}; }

 private:
  tune::program program_;
  std::size_t wgs_;
};

/// The step in service for one key, with its input and queue. One thread uses it.
class live_step {
 public:
  /// Asks for the tuning of the key, by the context's options, and makes the operation.
  live_step(const tune::context& context, int key);
  /// Runs the step, and lets a better tuning take over.
  void frame() {
    instance_->run();
    queue_.flush();
    pipeline_.epoch();
  }
  /// True if all elements are right.
  bool is_right();
  tune::live_counts counts() const noexcept { return pipeline_.counts(); }

 private:
  tune::live_pipeline pipeline_;
  tune::live<step_template> life_;
  tune::command_queue queue_;
  std::optional<tune::live_instance<step>> instance_;
};

}  // namespace soak
