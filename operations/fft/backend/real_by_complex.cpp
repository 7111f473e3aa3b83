// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/backend/real_by_complex.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "libtune/device/kernel.hpp"

#include "real_by_complex.kernel.hpp"

namespace tune::operations::transforms {
namespace {

constexpr std::size_t work_group = 128;

program build_conversions(const context& context, fft_precision precision) {
  const std::string types = precision == fft_precision::full
                                ? "typedef double real;\ntypedef double2 pair;\n"
                                : "typedef float real;\ntypedef float2 pair;\n";
  return compile(context,
                 {"real_by_complex.kernel", types + std::string(embedded::real_by_complex_kernel)});
}

fft_geometry complex_of(const fft_geometry& real) {
  fft_geometry made = real;
  made.kind = fft_kind::c2c;
  made.padded_src = real.size;
  made.padded_dest = real.size;
  return made;
}

/// One of the kernels with its axes.
class conversion {
 public:
  conversion(const program& built, const char* name, const fft_geometry& geometry,
             const fft_extents& padded, bool half)
      : kernel_(built.create_kernel(name)) {
    std::array<std::uint64_t, 3> extents{1, 1, 1};  // the fastest first
    std::array<std::uint64_t, 3> pitches{1, 1, 1};
    for (std::size_t i = 0; i < geometry.axes; ++i) {
      extents.at(i) = geometry.size.at(geometry.axes - 1 - i);
      pitches.at(i) = padded.at(geometry.axes - 1 - i);
    }
    const std::uint64_t count =
        (half ? extents[0] / 2 + 1 : extents[0]) * extents[1] * extents[2] * geometry.batch;
    std::size_t index = 2;
    for (const std::uint64_t extent : extents) kernel_.set_argument(index++, extent);
    for (const std::uint64_t pitch : pitches) kernel_.set_argument(index++, pitch);
    kernel_.set_argument(index, count);
    range_ = {{round_up(count, work_group)}, {work_group}};
  }

  void enqueue(command_queue& queue, const buffer& to, const buffer& from) {
    kernel_.set_argument(0, to);
    kernel_.set_argument(1, from);
    queue.enqueue(kernel_, range_);
  }

 private:
  kernel kernel_;
  nd_range range_;
};

class real_by_complex final : public fft_plan {
 public:
  real_by_complex(const command_queue& queue, const fft_geometry& geometry,
                  std::shared_ptr<fft_plan> complex)
      : complex_(std::move(complex)) {
    const program built = build_conversions(queue.context(), geometry.precision);
    const bool from_real = geometry.kind == fft_kind::r2c;
    before_.emplace(built, from_real ? "widen" : "complete", geometry, geometry.padded_src, false);
    after_.emplace(built, from_real ? "take_half" : "take_real", geometry, geometry.padded_dest,
                   from_real);
    const std::size_t each = geometry.precision == fft_precision::full ? 16 : 8;
    whole_bytes_ = geometry.size[0] * geometry.size[1] * geometry.size[2] * geometry.batch * each;
    inner_begin_ = round_up(whole_bytes_, queue.device().limits().buffer_alignment_bytes);
    const std::size_t inner = complex_->work_bytes();
    set_work_bytes(inner > 0 ? inner_begin_ + inner : whole_bytes_);
  }

 private:
  void do_run(command_queue& queue, const buffer& src, const buffer& dest,
              const buffer* work) override {
    divide(queue, *work);
    before_->enqueue(queue, *whole_, src);
    complex_->run(queue, *whole_, *whole_, inner_ ? &*inner_ : nullptr);
    after_->enqueue(queue, dest, *whole_);
  }

  void divide(command_queue& queue, const buffer& work) {
    if (work_ && work_->impl() == work.impl()) return;
    const context context = queue.context();
    whole_ = context.create_sub_buffer(work, 0, whole_bytes_);
    if (complex_->work_bytes() > 0) {
      inner_ = context.create_sub_buffer(work, inner_begin_, complex_->work_bytes());
    }
    work_ = work;
  }

  std::shared_ptr<fft_plan> complex_;
  std::optional<conversion> before_;
  std::optional<conversion> after_;
  std::size_t whole_bytes_ = 0;
  std::size_t inner_begin_ = 0;
  std::optional<buffer> work_{};  // the buffer that contains both parts
  std::optional<buffer> whole_{};
  std::optional<buffer> inner_{};
};

}  // namespace

std::shared_ptr<fft_plan> make_real_by_complex(
    const command_queue& queue, const fft_geometry& geometry,
    const std::function<std::shared_ptr<fft_plan>(const fft_geometry&)>& make_complex) {
  return std::make_shared<real_by_complex>(queue, geometry, make_complex(complex_of(geometry)));
}

}  // namespace tune::operations::transforms
