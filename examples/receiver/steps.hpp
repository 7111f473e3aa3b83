// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two small steps of the receiver that are not operations of the library.
#pragma once

#include <cstddef>
#include <vector>

#include "examples/receiver/digitiser.hpp"
#include "libtune/libtune.hpp"

namespace receiver {

/// Copies the heaps of one antenna to their places in the array of all: a corner turn in memory.
///
/// Slots from: int8, heaps x channels x heap_spectra x 2 x 2, and to: int8, heaps x antennas x
/// channels x heap_spectra x 2 x 2.
class corner_turn final : public tune::operation {
 public:
  corner_turn(const tune::command_queue& queue, const settings& sizes, std::size_t antenna);

 private:
  void do_run() override;

  settings sizes_;
  std::size_t antenna_;
  tune::slot_ref<std::int8_t> from_;
  tune::slot_ref<std::int8_t> to_;
};

/// The absolute values of visibilities. It loads and stores each once and keeps nothing, so only
/// the work group could be tuned, and it makes no difference here.
///
/// Slots src: int32, channels x products x 2, and dest: float32, channels x products.
class magnitude final : public tune::operation {
 public:
  magnitude(const tune::command_queue& queue, std::size_t channels, std::size_t products);

 private:
  void do_run() override;
  std::vector<tune::named_value> do_parameters() const override;

  tune::kernel kernel_;
  tune::slot_ref<std::int32_t> src_;
  tune::slot_ref<float> dest_;
  tune::nd_range range_;
};

/// The program of magnitude.
tune::program compile_magnitude(const tune::context& context);

}  // namespace receiver
