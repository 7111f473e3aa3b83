// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/receiver/steps.hpp"

#include <cstdint>
#include <string>

#include "magnitude.kernel.hpp"

namespace receiver {

corner_turn::corner_turn(const tune::command_queue& queue, const settings& sizes,
                         std::size_t antenna)
    : operation(queue),
      sizes_(sizes),
      antenna_(antenna),
      from_(add_slot<std::int8_t>("from", {sizes.heaps, sizes.channels, sizes.heap_spectra,
                                           polarisations, std::size_t{2}})),
      to_(add_slot<std::int8_t>("to", {sizes.heaps, sizes.antennas, sizes.channels,
                                       sizes.heap_spectra, polarisations, std::size_t{2}})) {}

void corner_turn::do_run() {
  const std::size_t heap = sizes_.channels * sizes_.heap_spectra * polarisations * 2;
  queue().copy(to_->buffer().buffer(), from_->buffer().buffer(),
               {.row_bytes = heap,
                .rows = sizes_.heaps,
                .destination = {.offset_bytes = antenna_ * heap,
                                .row_pitch_bytes = sizes_.antennas * heap}});
}

namespace {

constexpr std::size_t wgs = 64;

}  // namespace

tune::program compile_magnitude(const tune::context& context) {
  return tune::compile(context, {"magnitude.kernel", std::string(embedded::magnitude_kernel)},
                       tune::defines().add("wgs", std::int64_t{wgs}));
}

magnitude::magnitude(const tune::command_queue& queue, std::size_t channels, std::size_t products)
    : operation(queue),
      kernel_(compile_magnitude(queue.context()).create_kernel("magnitude")),
      src_(add_slot<std::int32_t>("src", {channels, products, std::size_t{2}})),
      dest_(add_slot<float>("dest", {channels, products})),
      range_{{tune::round_up(products, wgs), channels}, {wgs}} {}

void magnitude::do_run() {
  const tune::array_layout& dest = dest_->buffer().layout();
  enqueue(kernel_, range_, dest_, src_, static_cast<std::uint32_t>(dest.size()[1]),
          static_cast<std::uint32_t>(dest.padded()[1]));
}

std::vector<tune::named_value> magnitude::do_parameters() const {
  return tune::parameter_list().add("shape", dest_->required_layout().size());
}

namespace {

// For tunedb replay --application receiver (docs/capture.md).
const tune::remaker<magnitude> remake_magnitude{
    [](const tune::command_queue& queue, const tune::remade_parameters& from) {
      const tune::shape size = from.extents("shape");
      return magnitude(queue, size[0], size[1]);
    }};

}  // namespace

}  // namespace receiver
