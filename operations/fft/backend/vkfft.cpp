// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// VkFFT, as a generator of kernels: tune::compile compiles its programs, with the cache of programs
// and the seal, its tables are buffers of libtune, and its launches are recorded. A plan keeps only
// that list of launches, which run() enqueues; VkFFT's application object is destroyed after the
// construction.
//
// This is the only source that includes the header, because it is large.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/device/queue_interface.hpp"
#include "operations/fft/backend/plan.hpp"
#include "operations/fft/backend/real_by_complex.hpp"
#include "operations/fft/backend/vkfft_header.hpp"
#include "operations/fft/backend/vkfft_recorder.hpp"

namespace tune::operations::transforms {
namespace {

/// VkFFT's object. A failed initialisation has released its resources itself.
class application {
 public:
  application() = default;
  application(const application&) = delete;
  application& operator=(const application&) = delete;
  ~application() {
    if (initialised_) vkfft::deleteVkFFT(&object_);
  }

  vkfft::VkFFTResult initialise(const vkfft::VkFFTConfiguration& configuration) {
    const vkfft::VkFFTResult result = vkfft::initializeVkFFT(&object_, configuration);
    initialised_ = result == vkfft::VKFFT_SUCCESS;
    return result;
  }
  vkfft::VkFFTApplication& get() noexcept { return object_; }

 private:
  vkfft::VkFFTApplication object_{};
  bool initialised_ = false;
};

const char* meaning_of(vkfft::VkFFTResult result) {
  switch (result) {
    case vkfft::VKFFT_ERROR_UNSUPPORTED_RADIX:
    case vkfft::VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH: return "it does not do this length";
    default: return "see VkFFTResult in vkFFT.h";
  }
}

[[noreturn]] void throw_failure(vkfft::VkFFTResult result, const fft_geometry& geometry,
                                const command_queue& queue) {
  throw device_error("VkFFT for an FFT, " + to_string(geometry), queue.device().name(),
                     fmt::format("error {}: {}", static_cast<int>(result), meaning_of(result)));
}

std::size_t real_bytes(const fft_geometry& geometry) {
  return geometry.precision == fft_precision::full ? 8 : 4;
}

/// The transformed axes with more than one element, fastest first: VkFFT rejects others.
std::vector<std::size_t> long_axes(const fft_geometry& geometry) {
  std::vector<std::size_t> kept;
  for (std::size_t axis = geometry.axes; axis-- > 0;) {
    if (geometry.size.at(axis) > 1) kept.push_back(axis);
  }
  return kept;
}

/// The strides of an array in VkFFT's order, from the second axis on, and its bytes.
struct placed {
  placed(const fft_extents& padded, const fft_geometry& geometry, std::size_t element_bytes) {
    std::array<std::uint64_t, most_library_axes> steps{};
    std::uint64_t step = 1;
    for (std::size_t axis = geometry.axes; axis-- > 0;) {
      steps.at(axis) = step;
      step *= padded.at(axis);
    }
    strides.fill(step);
    const std::vector<std::size_t> axes = long_axes(geometry);
    for (std::size_t i = 1; i < axes.size(); ++i) strides.at(i - 1) = steps.at(axes[i]);
    bytes = step * geometry.batch * element_bytes;
  }

  std::array<std::uint64_t, 3> strides{};
  std::uint64_t bytes = 0;
};

template <class Strides>
void copy_strides(const placed& from, Strides& to) {
  std::ranges::copy(from.strides, std::begin(to));
}

// Work groups on CPUs take their private memory from the stack of a thread, and their local memory
// from caches that are smaller than drivers report.
constexpr std::size_t most_items_on_cpu = 256;
constexpr std::size_t most_local_bytes_on_cpu = std::size_t{32} << 10;
// VkFFT's arrays in local memory must not be larger on CUDA.
constexpr std::size_t most_local_bytes_on_cuda = std::size_t{48} << 10;

recorder make_recorder(const command_queue& queue) {
  const device device = queue.device();
  std::size_t items = device.limits().max_work_group_size;
  std::size_t bytes = device.limits().local_memory_bytes;
  if (device.kind() == device_kind::cpu) {
    items = std::min(items, most_items_on_cpu);
    bytes = std::min(bytes, most_local_bytes_on_cpu);
  }
  if (device.info().backend == "CUDA") bytes = std::min(bytes, most_local_bytes_on_cuda);
  return {queue.context(), items, bytes};
}

vkfft::VkFFTConfiguration configuration_of(const fft_geometry& geometry, const fft_tuning& tuning) {
  vkfft::VkFFTConfiguration wanted{};
  const std::vector<std::size_t> axes = long_axes(geometry);
  wanted.FFTdim = axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i) wanted.size[i] = geometry.size.at(axes[i]);
  wanted.numberBatches = geometry.batch;
  wanted.doublePrecision = geometry.precision == fft_precision::full ? 1 : 0;
  wanted.performR2C = geometry.kind != fft_kind::c2c ? 1 : 0;
  wanted.makeForwardPlanOnly = geometry.is_inverse() ? 0 : 1;
  wanted.makeInversePlanOnly = geometry.is_inverse() ? 1 : 0;
  wanted.isInputFormatted = 1;
  wanted.isOutputFormatted = geometry.kind == fft_kind::c2r ? 1 : 0;
  wanted.useLUT = tuning.lut ? 1 : 0;
  wanted.aimThreads = tuning.threads;
  wanted.coalescedMemory = tuning.coalesced_bytes;
  wanted.registerBoost = tuning.register_boost;
  wanted.performBandwidthBoost = tuning.bandwidth_boost;
  wanted.swapTo3Stage4Step = tuning.three_steps_from;
  return wanted;
}

/// The arrays of a transform. VkFFT computes in "buffer": in dest, unless that is real; then in
/// memory of its own with the layout of src.
struct sides {
  explicit sides(const fft_geometry& geometry)
      : src(geometry.padded_src, geometry,
            real_bytes(geometry) * (geometry.kind == fft_kind::r2c ? 1 : 2)),
        dest(geometry.padded_dest, geometry,
             real_bytes(geometry) * (geometry.kind == fft_kind::c2r ? 1 : 2)),
        middle(geometry.kind == fft_kind::c2r ? src : dest) {}

  /// Points to the sizes here.
  void describe(vkfft::VkFFTConfiguration& wanted) {
    copy_strides(src, wanted.inputBufferStride);
    copy_strides(middle, wanted.bufferStride);
    copy_strides(dest, wanted.outputBufferStride);
    wanted.inputBufferSize = &src.bytes;
    wanted.outputBufferSize = &dest.bytes;
    wanted.bufferSize = &middle.bytes;
  }

  placed src;
  placed dest;
  placed middle;
};

/// True if a plan joins two real numbers to a complex one for lines longer than local memory. The
/// member has another name from VkFFT 1.3 on.
template <class Plan>
bool joins_numbers_of_long_lines(const Plan& plan) {
  if constexpr (requires { plan.multiUploadR2C; }) {
    return plan.multiUploadR2C != 0;
  } else {
    return plan.bigSequenceEvenR2C != 0;
  }
}

/// True from VkFFT 1.3 on.
template <class Plan>
constexpr bool is_from_1_3(const Plan& plan) {
  return requires { plan.bigSequenceEvenR2C; };
}

/// True if VkFFT's plan gives wrong results. If it joins two real numbers to a complex one, for
/// lines longer than local memory, it halves the length of rows; and from 1.3 on it treats a padded
/// spectrum as one without padding.
bool goes_wrong(vkfft::VkFFTApplication& made, const fft_geometry& geometry) {
  const auto* plan = geometry.is_inverse() ? made.localFFTPlan_inverse : made.localFFTPlan;
  if (!joins_numbers_of_long_lines(*plan)) return false;
  const bool from_real = geometry.kind == fft_kind::r2c;
  const auto& padded = from_real ? geometry.padded_src : geometry.padded_dest;
  const std::size_t last = geometry.axes - 1;
  if (padded.at(last) % 2 != 0) return true;
  fft_extents spectrum = geometry.size;
  spectrum.at(last) = spectrum.at(last) / 2 + 1;
  return is_from_1_3(*plan) && !from_real && geometry.padded_src != spectrum;
}

/// The launches of one transform.
class vkfft_plan final : public fft_plan {
 public:
  /// Returns false if VkFFT does not support these transforms of real numbers.
  /// @throws device_error if it does not support the transform at all
  bool prepare(const command_queue& queue, const fft_geometry& geometry, const fft_tuning& tuning);

  /// The texts written by VkFFT.
  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  using purpose = recorded_memory::purpose;

  static vkfft::VkFFTResult record(recorder& by, vkfft::VkFFTApplication& made, const sides& arrays,
                                   const fft_geometry& geometry);
  void do_run(command_queue& queue, const buffer& src, const buffer& dest,
              const buffer* work) override;
  const buffer& memory_of(purpose used_as, const buffer& src, const buffer& dest) const;
  void divide(command_queue& queue, const buffer& work);

  std::vector<recorded_launch> launches_;
  std::vector<std::string> texts_;
  bool copies_src_ = false;  // to the scratch, which has its layout
  std::size_t scratch_bytes_ = 0;
  std::size_t temporary_bytes_ = 0;
  std::size_t temporary_begin_ = 0;
  std::optional<buffer> work_{};  // that the two parts are of
  std::optional<buffer> scratch_{};
  std::optional<buffer> temporary_{};
};

bool vkfft_plan::prepare(const command_queue& queue, const fft_geometry& geometry,
                         const fft_tuning& tuning) {
  sides arrays(geometry);
  const bool is_real = geometry.kind != fft_kind::c2c;
  if (is_real && geometry.size.at(geometry.axes - 1) == 1) return false;
  recorder by = make_recorder(queue);
  auto device = reinterpret_cast<cl_device_id>(&by);
  auto context = reinterpret_cast<cl_context>(&by);
  vkfft::VkFFTConfiguration wanted = configuration_of(geometry, tuning);
  wanted.device = &device;
  wanted.context = &context;
  arrays.describe(wanted);
  const detail::plain_locale numbers;  // those in kernel text have a point
  application made;
  const vkfft::VkFFTResult initialised = made.initialise(wanted);
  by.rethrow();
  if (is_real && initialised == vkfft::VKFFT_ERROR_UNSUPPORTED_FFT_LENGTH_R2C) return false;
  if (initialised != vkfft::VKFFT_SUCCESS) throw_failure(initialised, geometry, queue);
  if (is_real && goes_wrong(made.get(), geometry)) return false;

  const vkfft::VkFFTResult appended = record(by, made.get(), arrays, geometry);
  by.rethrow();
  if (appended != vkfft::VKFFT_SUCCESS) throw_failure(appended, geometry, queue);
  if (by.uses(purpose::scratch)) scratch_bytes_ = arrays.middle.bytes;
  // VkFFT may read long lines of real numbers from "buffer" in spite of a separate input.
  copies_src_ = !by.uses(purpose::src);
  temporary_bytes_ = by.temporary_bytes();
  temporary_begin_ = round_up(scratch_bytes_, queue.device().limits().buffer_alignment_bytes);
  set_work_bytes(temporary_bytes_ > 0 ? temporary_begin_ + temporary_bytes_ : scratch_bytes_);
  launches_ = by.take_launches();
  texts_ = by.texts();
  by.finish();
  return true;
}

/// The transform of single elements, which are their own transforms. Neither side has padding.
class unchanged_plan final : public fft_plan {
 public:
  explicit unchanged_plan(std::size_t bytes) : bytes_(bytes) {}

 private:
  void do_run(command_queue& queue, const buffer& src, const buffer& dest,
              const buffer* /*work*/) override {
    if (src.impl() == dest.impl()) return;
    queue.impl()->copy({.source = {.buffer = src.impl().get()},
                        .destination = {.buffer = dest.impl().get()},
                        .row_bytes = bytes_});
  }

  std::size_t bytes_;
};

vkfft::VkFFTResult vkfft_plan::record(recorder& by, vkfft::VkFFTApplication& made,
                                      const sides& arrays, const fft_geometry& geometry) {
  by.start();
  const auto handle_of = [&](purpose used_as, std::size_t bytes) {
    return reinterpret_cast<cl_mem>(by.slot(used_as, bytes));
  };
  auto commands = reinterpret_cast<cl_command_queue>(&by);
  cl_mem src = handle_of(purpose::src, arrays.src.bytes);
  cl_mem dest = handle_of(purpose::dest, arrays.dest.bytes);
  cl_mem middle =
      geometry.kind == fft_kind::c2r ? handle_of(purpose::scratch, arrays.middle.bytes) : dest;
  vkfft::VkFFTLaunchParams launch{};
  launch.commandQueue = &commands;
  launch.inputBuffer = &src;
  launch.outputBuffer = &dest;
  launch.buffer = &middle;
  return vkfft::VkFFTAppend(&made, geometry.is_inverse() ? 1 : -1, &launch);
}

void vkfft_plan::divide(command_queue& queue, const buffer& work) {
  if (work_ && work_->impl() == work.impl()) return;
  const tune::context context = queue.context();
  if (scratch_bytes_ > 0) scratch_ = context.create_sub_buffer(work, 0, scratch_bytes_);
  if (temporary_bytes_ > 0) {
    temporary_ = context.create_sub_buffer(work, temporary_begin_, temporary_bytes_);
  }
  work_ = work;
}

const buffer& vkfft_plan::memory_of(purpose used_as, const buffer& src, const buffer& dest) const {
  switch (used_as) {
    case purpose::src: return src;
    case purpose::scratch: return *scratch_;
    case purpose::temporary: return *temporary_;
    default: return dest;
  }
}

void vkfft_plan::do_run(command_queue& queue, const buffer& src, const buffer& dest,
                        const buffer* work) {
  if (work != nullptr) divide(queue, *work);
  if (copies_src_) {
    queue.impl()->copy({.source = {.buffer = src.impl().get()},
                        .destination = {.buffer = scratch_->impl().get()},
                        .row_bytes = scratch_bytes_});
  }
  for (recorded_launch& launch : launches_) {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const recorded_argument& argument = launch.arguments[i];
      if (!argument.bytes.empty()) {
        launch.code->set_argument(i, std::span<const std::byte>(argument.bytes));
      } else {
        launch.code->set_argument(
            i, argument.memory ? *argument.memory : memory_of(argument.used_as, src, dest));
      }
    }
    queue.enqueue(*launch.code, launch.range);
  }
}

}  // namespace

std::string vkfft_absence() { return {}; }

std::vector<std::string> vkfft_cuda_texts(const command_queue& queue, const fft_geometry& geometry,
                                          const fft_tuning& tuning) {
  vkfft_plan plan;
  std::vector<std::string> made;
  if (!plan.prepare(queue, geometry, tuning)) return made;
  for (const std::string& text : plan.texts()) made.push_back(cuda_text(text, made.size() % 3));
  return made;
}

std::shared_ptr<fft_plan> make_vkfft_plan(const command_queue& queue, const fft_geometry& geometry,
                                          const fft_tuning& tuning) {
  if (geometry.kind == fft_kind::c2c && long_axes(geometry).empty()) {
    return std::make_shared<unchanged_plan>(geometry.batch * 2 * real_bytes(geometry));
  }
  auto made = std::make_shared<vkfft_plan>();
  if (made->prepare(queue, geometry, tuning)) return made;
  return make_real_by_complex(queue, geometry, [&](const fft_geometry& complex) {
    return make_vkfft_plan(queue, complex, tuning);
  });
}

}  // namespace tune::operations::transforms
