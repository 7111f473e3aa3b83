// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/fft.hpp"

#include <vector>

#include "operations/fft/backend/copied.hpp"
#include "operations/fft/backend/description.hpp"
#include "operations/fft/backend/plan.hpp"

namespace tune::operations {
namespace {

std::vector<dimension> exactly(const shape& size, const shape& padded) {
  std::vector<dimension> dimensions;
  for (std::size_t axis = 0; axis < size.rank(); ++axis) {
    dimensions.emplace_back(size[axis], padding{.minimum = padded[axis], .exact = true});
  }
  return dimensions;
}

}  // namespace

fft::fft(const command_queue& queue, const fft_description& description, const fft_tuning& tuning)
    : operation(queue) {
  const transforms::checked_description checked(description);
  transforms::check_library(queue.device(), checked.geometry);
  key_ = checked.key();
  src_ = &add_slot("src", exactly(checked.src, checked.padded_src), description.src);
  dest_ = &add_slot("dest", exactly(checked.dest, checked.padded_dest), description.dest);
  if (checked.geometry.batch == 0) return;
  const bool with_cufft = transforms::is_cuda(queue.device()) && !tuning.vkfft;
  plan_ = transforms::make_plan(
      queue, checked, !with_cufft, [&](const transforms::fft_geometry& geometry) {
        return with_cufft ? transforms::make_cufft_plan(queue, geometry, tuning)
                          : transforms::make_vkfft_plan(queue, geometry, tuning);
      });
  if (plan_->work_bytes() > 0) {
    work_area_ = &add_slot("work_area", {plan_->work_bytes()}, dtype::uint8);
  }
}

void fft::do_run() {
  if (plan_ == nullptr) return;
  plan_->run(queue(), src_->buffer().buffer(), dest_->buffer().buffer(),
             work_area_ != nullptr ? &work_area_->buffer().buffer() : nullptr);
}

std::vector<named_value> fft::do_parameters() const { return to_values(key_); }

}  // namespace tune::operations
