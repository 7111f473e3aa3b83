// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "operations/fft/backend/copied.hpp"
#include "operations/fft/backend/strided_copy.hpp"
#include "operations/fft/backend/work_parts.hpp"

namespace tune::operations::transforms {
namespace {

/// The extents of the complex array: the batch, then the transformed axes.
std::vector<std::size_t> complex_extents(const fft_geometry& geometry) {
  std::vector<std::size_t> extents{geometry.batch};
  for (std::size_t axis = 0; axis < geometry.axes; ++axis) {
    extents.push_back(geometry.size.at(axis));
  }
  if (geometry.kind != fft_kind::c2c) extents.back() = extents.back() / 2 + 1;
  return extents;
}

/// The axes of a copy to an array whose fastest axis is the moved one, after the others.
std::vector<copied_axis> to_last(const std::vector<std::size_t>& extents, std::size_t moved) {
  std::vector<copied_axis> axes(extents.size());
  std::uint64_t from = 1;
  std::uint64_t to = extents[moved];
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    axes[axis] = {extents[axis], axis == moved ? 1 : to, from};
    from *= extents[axis];
    if (axis != moved) to *= extents[axis];
  }
  return axes;
}

std::vector<copied_axis> reversed(std::vector<copied_axis> axes) {
  for (copied_axis& axis : axes) std::swap(axis.to, axis.from);
  return axes;
}

/// The transform of the last three axes.
fft_geometry last_axes(const fft_geometry& geometry) {
  fft_geometry made = geometry;
  const std::size_t before = geometry.axes - most_library_axes;
  made.axes = most_library_axes;
  for (std::size_t axis = 0; axis < before; ++axis) made.batch *= geometry.size.at(axis);
  made.size = made.padded_src = made.padded_dest = fft_extents_of_one;
  for (std::size_t axis = 0; axis < made.axes; ++axis) {
    made.size.at(axis) = geometry.size.at(before + axis);
    made.padded_src.at(axis) = geometry.padded_src.at(before + axis);
    made.padded_dest.at(axis) = geometry.padded_dest.at(before + axis);
  }
  return made;
}

fft_geometry lines_of(const fft_geometry& geometry, std::size_t length, std::size_t count) {
  fft_geometry made{.kind = fft_kind::c2c,
                    .precision = geometry.precision,
                    .direction = geometry.direction,
                    .axes = 1,
                    .batch = count};
  made.size.at(0) = made.padded_src.at(0) = made.padded_dest.at(0) = length;
  return made;
}

/// The transform along one axis of a complex array, in a copy where this axis is the fastest.
struct axis_pass {
  strided_copy there;
  std::shared_ptr<fft_plan> plan;
  strided_copy back;
};

class many_axes_plan final : public fft_plan {
 public:
  many_axes_plan(const command_queue& queue, const fft_geometry& geometry, const plan_maker& make)
      : last_(make(last_axes(geometry))),
        to_real_(geometry.kind == fft_kind::c2r),
        parts_(queue.device()) {
    const std::vector<std::size_t> extents = complex_extents(geometry);
    std::size_t count = 1;
    for (const std::size_t extent : extents) count *= extent;
    const std::size_t each = types_of(geometry.precision).complex.bytes();
    std::size_t inner_bytes = last_->work_bytes();
    for (std::size_t axis = 1; axis + most_library_axes < extents.size(); ++axis) {
      if (extents[axis] == 1) continue;
      const std::vector<copied_axis> moved = to_last(extents, axis);
      auto plan = make(lines_of(geometry, extents[axis], count / extents[axis]));
      inner_bytes = std::max(inner_bytes, plan->work_bytes());
      passes_.push_back({strided_copy(queue.context(), moved, each), std::move(plan),
                         strided_copy(queue.context(), reversed(moved), each)});
    }
    turned_ = parts_.add(passes_.empty() ? 0 : count * each);
    spectrum_ = parts_.add(passes_.empty() || !to_real_ ? 0 : count * each);
    inner_ = parts_.add(inner_bytes);
    set_work_bytes(parts_.bytes());
  }

 private:
  void do_run(command_queue& queue, const buffer& src, const buffer& dest,
              const buffer* work) override {
    if (work != nullptr) parts_.set(queue, *work);
    const buffer* spectrum = &src;
    if (!to_real_) {
      last_->run(queue, src, dest, work_of(*last_));
      spectrum = &dest;
    }
    for (axis_pass& pass : passes_) {
      const buffer& turned = *parts_[turned_];
      pass.there.enqueue(queue, turned, *spectrum);
      pass.plan->run(queue, turned, turned, work_of(*pass.plan));
      if (to_real_) spectrum = parts_[spectrum_];
      pass.back.enqueue(queue, *spectrum, turned);
    }
    if (to_real_) last_->run(queue, *spectrum, dest, work_of(*last_));
  }
  const buffer* work_of(const fft_plan& plan) const {
    return plan.work_bytes() > 0 ? parts_[inner_] : nullptr;
  }

  std::shared_ptr<fft_plan> last_;
  bool to_real_;
  work_parts parts_;
  std::vector<axis_pass> passes_;
  std::size_t turned_ = 0;
  std::size_t spectrum_ = 0;
  std::size_t inner_ = 0;
};

}  // namespace

std::shared_ptr<fft_plan> make_many_axes_plan(const command_queue& queue,
                                              const fft_geometry& geometry,
                                              const plan_maker& make) {
  return std::make_shared<many_axes_plan>(queue, geometry, make);
}

}  // namespace tune::operations::transforms
