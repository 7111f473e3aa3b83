// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/fft.hpp"

#include <algorithm>
#include <vector>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
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
    : operation(queue), tuning_(tuning) {
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

std::vector<named_value> fft::do_parameters() const {
  const array_layout src = src_->required_layout();
  const array_layout dest = dest_->required_layout();
  parameter_list list;
  for (const named_value& each : to_values(key_)) list.add(each.name, each.value);
  return list.add("src", src.type())
      .add("dest", dest.type())
      .add("src_shape", src.size())
      .add("dest_shape", dest.size())
      .add("padded_src", src.padded())
      .add("padded_dest", dest.padded())
      .add("tuning", tuning_);
}

namespace {
element_type type_of(const remade_parameters& from, const char* name) {
  if (from.get<std::string>(name) == element_type::of<complex_half>().name()) {
    return element_type::of<complex_half>();
  }
  return from.type(name);
}

const remaker<fft> remake_fft{[](const command_queue& queue, const remade_parameters& from) {
  const auto extents = from.get<std::string>("size");
  const bool to_real = from.get<fft_kind>("kind") == fft_kind::c2r;
  fft_description made{.size = from.extents(to_real ? "dest_shape" : "src_shape"),
                       .axes = static_cast<std::size_t>(std::ranges::count(extents, 'x')) + 1,
                       .src = type_of(from, "src"),
                       .dest = type_of(from, "dest"),
                       .padded_src = from.extents("padded_src"),
                       .padded_dest = from.extents("padded_dest")};
  if (from.get<fft_kind>("kind") == fft_kind::c2c) {
    made.direction = from.get<fft_direction>("direction");
  }
  return fft_template(queue.context(), made, from.get<fft_tuning>("tuning")).instantiate(queue);
}};

const tuned_by<fft> fft_is_tuned{
    fft_template::autotune,
    [](const remade_parameters& from) {
      return fft_key{.kind = from.get<fft_kind>("kind"),
                     .precision = from.get<fft_precision>("precision"),
                     .direction = from.get<fft_direction>("direction"),
                     .size = from.get<std::string>("size"),
                     .batch = from.get<std::size_t>("batch")};
    },
    // Sums in another order; the work area is scratch. The elements of half precision are structs.
    [](const remade_parameters& from) -> tuned_results {
      if (from.get<fft_precision>("precision") == fft_precision::half) return {};
      return {{"dest", tolerance::signal_to_noise(100)}};
    }};
}  // namespace

}  // namespace tune::operations
