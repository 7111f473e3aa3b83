// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "operations/telescope/rfi2d/lanes/flag_block.hpp"
#include "operations/telescope/rfi2d/lanes/flat_plan.hpp"

namespace {  // as what it is made of

/// The pieces of the 2-D flagger, for one baseline: a plan and a block's arrays, whose first lane
/// is used. All others are flagged.
class rfi2d_lanes {
 public:
  rfi2d_lanes(const tune::operations::rfi2d_parameters& parameters, std::size_t times,
              std::size_t channels)
      : flat_(tune::operations::rfi2d_plan(parameters, times, channels)),
        memory_(::operator new (tune::operations::block_scratch_bytes(flat_.plan),
                                std::align_val_t{64})) {
    tune::operations::lay_out(flat_.plan, memory_.get(), arrays_);
    for (std::size_t i = 0; i < times * arrays_.stride; ++i) {
      arrays_.amplitude[i] = arrays_.background[i] = tune::operations::zero_lanes;
      arrays_.flagged[i] = 0xFFFE;
      arrays_.found[i] = 0;
    }
  }

  void set(std::size_t t, std::size_t f, float value, bool flagged) {
    arrays_.amplitude[at(t, f)][0] = value;
    arrays_.flagged[at(t, f)] = flagged ? 0xFFFF : 0xFFFE;
  }
  float background(std::size_t t, std::size_t f) const { return arrays_.background[at(t, f)][0]; }
  bool found(std::size_t t, std::size_t f) const { return (arrays_.found[at(t, f)] & 1) != 0; }

  void compute_background() {
    tune::operations::compute_background(flat_.plan, arrays_,
                                         {.data = arrays_.amplitude,
                                          .level = arrays_.background,
                                          .flagged = arrays_.flagged,
                                          .times = flat_.plan.times});
  }
  void threshold_times() {
    for (std::size_t f = 0; f < flat_.plan.averaged; ++f) {
      tune::operations::threshold_times(flat_.plan, arrays_, f);
    }
  }
  void threshold_frequencies() {
    for (std::size_t t = 0; t < flat_.plan.times; ++t) {
      const std::size_t row = t * arrays_.stride;
      tune::operations::threshold_frequencies(flat_.plan, arrays_,
                                              {.x = arrays_.amplitude + row,
                                               .level = arrays_.background + row,
                                               .flagged = arrays_.flagged + row,
                                               .found = arrays_.found + row});
    }
  }

 private:
  struct free_memory {
    void operator()(void* memory) const noexcept {
      ::operator delete (memory, std::align_val_t{64});
    }
  };

  std::size_t at(std::size_t t, std::size_t f) const { return t * arrays_.stride + f; }

  tune::operations::flat_plan flat_;
  std::unique_ptr<void, free_memory> memory_;
  tune::operations::block_arrays arrays_{};
};

}  // namespace
