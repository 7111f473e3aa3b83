// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/backend/copied.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "operations/fft/backend/strided_copy.hpp"
#include "operations/fft/backend/work_parts.hpp"

namespace tune::operations::transforms {
namespace {

/// One side of a transform, and its layout for the library.
struct copied_side {
  shape size;
  shape padded;  ///< the slot's padded extents
  shape dense;   ///< the copy's extents
  element_type type;
  bool is_half;  ///< the copy of it is in single precision

  std::size_t copy_bytes() const { return size.elements() * type.bytes() * (is_half ? 2 : 1); }

  std::vector<copied_axis> axes(const shape& to, const shape& from) const {
    std::vector<copied_axis> made = copied_axes(size, to, from);
    if (is_half && type != dtype::float16) {  // the parts of complex numbers
      for (copied_axis& axis : made) {
        axis.to *= 2;
        axis.from *= 2;
      }
      made.push_back({2, 1, 1});
    }
    return made;
  }
  strided_copy in(const context& context) const {
    return {context, axes(dense, padded), type.bytes(),
            is_half ? copied_as::half_to_float : copied_as::same};
  }
  strided_copy out(const context& context) const {
    return {context, axes(padded, dense), type.bytes(),
            is_half ? copied_as::float_to_half : copied_as::same};
  }
};

/// A transform between copies.
class copied_plan final : public fft_plan {
 public:
  copied_plan(const command_queue& queue, const std::optional<copied_side>& src,
              const std::optional<copied_side>& dest, bool in_place,
              std::shared_ptr<fft_plan> inner)
      : inner_(std::move(inner)), in_place_(in_place), parts_(queue.device()) {
    const context context = queue.context();
    if (src) before_.emplace(src->in(context));
    if (dest) after_.emplace(dest->out(context));
    src_part_ = parts_.add(src ? src->copy_bytes() : 0);
    dest_part_ = parts_.add(dest && !in_place ? dest->copy_bytes() : 0);
    inner_part_ = parts_.add(inner_->work_bytes());
    set_work_bytes(parts_.bytes());
  }

 private:
  void do_run(command_queue& queue, const buffer& src, const buffer& dest,
              const buffer* work) override {
    parts_.set(queue, *work);
    const buffer* from = &src;
    const buffer* to = &dest;
    if (before_) {
      from = parts_[src_part_];
      before_->enqueue(queue, *from, src);
    }
    if (after_) to = in_place_ ? from : parts_[dest_part_];
    inner_->run(queue, *from, *to, parts_[inner_part_]);
    if (after_) after_->enqueue(queue, dest, *to);
  }

  std::shared_ptr<fft_plan> inner_;
  bool in_place_;
  work_parts parts_;
  std::size_t src_part_ = 0;
  std::size_t dest_part_ = 0;
  std::size_t inner_part_ = 0;
  std::optional<strided_copy> before_;
  std::optional<strided_copy> after_;
};

/// True if an array has padding that the libraries do not support: in a repeated axis of the batch,
/// because consecutive transforms must have equal distances.
bool has_padded_batch(const shape& size, const shape& padded, std::size_t batch_axes) {
  std::size_t before = 1;
  for (std::size_t axis = 0; axis < batch_axes; ++axis) {
    if (before > 1 && padded[axis] != size[axis]) return true;
    before *= size[axis];
  }
  return false;
}

/// Removes the padding of a copied side.
void make_dense(const copied_side& side, std::size_t axes, fft_extents& padded) {
  const std::size_t batch_axes = side.size.rank() - axes;
  for (std::size_t axis = 0; axis < axes; ++axis) padded.at(axis) = side.size[batch_axes + axis];
}

}  // namespace

std::shared_ptr<fft_plan> make_plan(const command_queue& queue, const checked_description& about,
                                    bool converts_half, const plan_maker& make) {
  fft_geometry geometry = about.geometry;
  const bool is_half = converts_half && geometry.precision == fft_precision::half;
  const bool has_many_axes = geometry.axes > most_library_axes;
  const auto side_of = [&](const shape& size, const shape& padded,
                           const element_type& type) -> std::optional<copied_side> {
    // With rows of one element, padding would separate all elements.
    const bool needs_dense =
        has_many_axes || (geometry.kind == fft_kind::c2c && size[size.rank() - 1] == 1);
    const bool copied =
        is_half || (needs_dense ? padded != size
                                : has_padded_batch(size, padded, size.rank() - geometry.axes));
    if (!copied) return std::nullopt;
    return copied_side{size, padded, size, type, is_half};
  };
  const number_types types = types_of(geometry.precision);
  const auto src = side_of(about.src, about.padded_src,
                           geometry.kind == fft_kind::r2c ? types.real : types.complex);
  const auto dest = side_of(about.dest, about.padded_dest,
                            geometry.kind == fft_kind::c2r ? types.real : types.complex);
  if (is_half) geometry.precision = fft_precision::single;
  if (src) make_dense(*src, geometry.axes, geometry.padded_src);
  if (dest) make_dense(*dest, geometry.axes, geometry.padded_dest);
  std::shared_ptr<fft_plan> inner =
      has_many_axes ? make_many_axes_plan(queue, geometry, make) : make(geometry);
  if (!src && !dest) return inner;
  const bool in_place = src && dest && geometry.kind == fft_kind::c2c;
  return std::make_shared<copied_plan>(queue, src, dest, in_place, std::move(inner));
}

}  // namespace tune::operations::transforms
