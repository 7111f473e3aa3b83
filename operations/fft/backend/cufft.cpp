// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// cuFFT, loaded on first use. The declarations are short copies of its own: they are the same in
// its versions 11 and 12, of CUDA 12 and 13.
#include <array>
#include <cstdint>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/base/shared_library.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "operations/fft/backend/plan.hpp"

namespace tune::operations::transforms {
namespace {

using handle = int;
using result = int;

constexpr result success = 0;
constexpr int patient_jit = 1;  // cufftProperty
constexpr int forward = -1;
constexpr int inverse = 1;

// cudaDataType_t
constexpr int real_types[]{2, 0, 1};     // NOLINT(modernize-avoid-c-arrays): half, float, double
constexpr int complex_types[]{6, 4, 5};  // NOLINT(modernize-avoid-c-arrays)

struct cufft_api {
  cufft_api();

  shared_library library;
  std::string absence;
  result (*create)(handle*) = nullptr;
  result (*destroy)(handle) = nullptr;
  result (*set_auto_allocation)(handle, int) = nullptr;
  result (*set_stream)(handle, void*) = nullptr;
  result (*set_work_area)(handle, void*) = nullptr;
  result (*set_property)(handle, int, long long) = nullptr;  // from 11.1 on
  result (*make_plan_many)(handle, int, long long*, long long*, long long, long long, int,
                           long long*, long long, long long, int, long long, std::size_t*,
                           int) = nullptr;
  result (*execute)(handle, void*, void*, int) = nullptr;

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = library.function<Function>(name);
    if (function == nullptr && absence.empty()) {
      absence = fmt::format(
          "the cuFFT library that was found has no {}; install that of CUDA 12 "
          "or 13",
          name);
    }
  }
};

cufft_api::cufft_api() {
  std::string reasons;
  for (const char* name :
       {"libcufft.so.12", "libcufft.so.11", "/usr/local/cuda/lib64/libcufft.so.12",
        "/usr/local/cuda/lib64/libcufft.so.11"}) {
    library = shared_library(name);
    if (library) break;
    reasons += "\n  " + library.error();
  }
  if (!library) {
    absence =
        "cuFFT was not found; install libcufft of the CUDA Toolkit 12 or 13 (package "
        "libcufft-13-0, say), or add its folder to LD_LIBRARY_PATH:" +
        reasons;
    return;
  }
  find(create, "cufftCreate");
  find(destroy, "cufftDestroy");
  find(set_auto_allocation, "cufftSetAutoAllocation");
  find(set_stream, "cufftSetStream");
  find(set_work_area, "cufftSetWorkArea");
  find(make_plan_many, "cufftXtMakePlanMany");
  find(execute, "cufftXtExec");
  set_property = library.function<decltype(set_property)>("cufftSetPlanPropertyInt64");
}

const cufft_api& cufft() {
  static const tune::detail::never_destroyed<cufft_api> loaded;
  return *loaded;
}

bool has_padding(const fft_geometry& geometry) {
  fft_extents half = geometry.size;
  half.at(geometry.axes - 1) = half.at(geometry.axes - 1) / 2 + 1;
  const auto& src = geometry.kind == fft_kind::c2r ? half : geometry.size;
  const auto& dest = geometry.kind == fft_kind::r2c ? half : geometry.size;
  return geometry.padded_src != src || geometry.padded_dest != dest;
}

/// One plan of the library.
class cufft_plan final : public fft_plan, public std::enable_shared_from_this<cufft_plan> {
 public:
  cufft_plan(const command_queue& queue, const fft_geometry& geometry, const fft_tuning& tuning)
      : context_(queue.context()), geometry_(geometry) {
    const cuda::context_scope entered(context_);
    check(cufft().create(&plan_), "cufftCreate");
    try {
      configure(queue, tuning);
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~cufft_plan() override {
    if (tune::detail::is_forked()) return;
    try {
      const cuda::context_scope entered(context_);
      destroy();
    } catch (const error& failure) {
      log(log_level::error, std::string("a plan of cuFFT ended with ") + failure.what());
    }
  }

 private:
  void configure(const command_queue& queue, const fft_tuning& tuning);
  void destroy() const noexcept {
    const result ended = cufft().destroy(plan_);
    if (ended != success) log(log_level::error, "cufftDestroy: " + cufft_result_name(ended));
  }
  void check(result returned, const char* call) const {
    if (returned == success) return;
    throw device_error(fmt::format("{} for an FFT, {}", call, to_string(geometry_)),
                       context_.device().name(), cufft_result_name(returned));
  }
  void do_run(command_queue& queue, const buffer& src, const buffer& dest,
              const buffer* work) override;

  context context_;
  fft_geometry geometry_;
  handle plan_ = 0;
  std::uintptr_t work_ = 0;  // the work area last passed to the plan
};

void cufft_plan::configure(const command_queue& queue, const fft_tuning& tuning) {
  const cufft_api& api = cufft();
  check(api.set_auto_allocation(plan_, 0), "cufftSetAutoAllocation");
  if (tuning.jit) {
    if (api.set_property == nullptr) {
      throw device_error("an FFT with the tuning jit", context_.device().name(),
                         "this cuFFT compiles nothing for a plan; update it");
    }
    check(api.set_property(plan_, patient_jit, 1), "cufftSetPlanPropertyInt64");
  }
  std::array<long long, 3> size{};
  std::array<long long, 3> src{};
  std::array<long long, 3> dest{};
  long long src_distance = 1;
  long long dest_distance = 1;
  for (std::size_t axis = 0; axis < geometry_.axes; ++axis) {
    size.at(axis) = static_cast<long long>(geometry_.size.at(axis));
    src.at(axis) = static_cast<long long>(geometry_.padded_src.at(axis));
    dest.at(axis) = static_cast<long long>(geometry_.padded_dest.at(axis));
    src_distance *= src.at(axis);
    dest_distance *= dest.at(axis);
  }
  const auto precision = static_cast<std::size_t>(geometry_.precision);
  const int complex_type = complex_types[precision];
  const int src_type = geometry_.kind == fft_kind::r2c ? real_types[precision] : complex_type;
  const int dest_type = geometry_.kind == fft_kind::c2r ? real_types[precision] : complex_type;
  std::size_t bytes = 0;
  // Without padding cuFFT gets no strides, so it has a free choice.
  const bool is_padded = has_padding(geometry_);
  check(api.make_plan_many(plan_, static_cast<int>(geometry_.axes), size.data(),
                           is_padded ? src.data() : nullptr, 1, src_distance, src_type,
                           is_padded ? dest.data() : nullptr, 1, dest_distance, dest_type,
                           static_cast<long long>(geometry_.batch), &bytes, complex_type),
        "cufftXtMakePlanMany");
  set_work_bytes(bytes);
  check(api.set_stream(plan_, cuda::native_handle(queue)), "cufftSetStream");
}

void cufft_plan::do_run(command_queue& queue, const buffer& src, const buffer& dest,
                        const buffer* work) {
  if (work != nullptr && cuda::native_handle(*work) != work_) {
    work_ = cuda::native_handle(*work);
    const cuda::context_scope entered(context_);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the driver
    check(cufft().set_work_area(plan_, reinterpret_cast<void*>(work_)), "cufftSetWorkArea");
  }
  // A single pointer, so that the function object does not allocate.
  // NOLINTBEGIN(performance-no-int-to-ptr): addresses of the driver
  const struct {
    cufft_plan* plan;
    void* src;
    void* dest;
  } call{this, reinterpret_cast<void*>(cuda::native_handle(src)),
         reinterpret_cast<void*>(cuda::native_handle(dest))};
  // NOLINTEND(performance-no-int-to-ptr)
  const auto enqueue = [&call] {
    const int direction = call.plan->geometry_.is_inverse() ? inverse : forward;
    call.plan->check(cufft().execute(call.plan->plan_, call.src, call.dest, direction),
                     "cufftXtExec");
  };
  if (!queue.is_capturing()) {
    queue.enqueue_foreign(enqueue);
    return;
  }
  const std::array<std::shared_ptr<const void>, 4> used{
      shared_from_this(), src.impl(), dest.impl(),
      work != nullptr ? std::shared_ptr<const void>(work->impl()) : nullptr};
  queue.enqueue_foreign(enqueue, used);
}

}  // namespace

std::string cufft_absence() { return cufft().absence; }

std::string cufft_result_name(int code) {
  switch (code) {
    case 0x0: return "CUFFT_SUCCESS";
    case 0x1: return "CUFFT_INVALID_PLAN";
    case 0x2: return "CUFFT_ALLOC_FAILED";
    case 0x3: return "CUFFT_INVALID_TYPE";
    case 0x4: return "CUFFT_INVALID_VALUE";
    case 0x5: return "CUFFT_INTERNAL_ERROR";
    case 0x6: return "CUFFT_EXEC_FAILED";
    case 0x7: return "CUFFT_SETUP_FAILED";
    case 0x8: return "CUFFT_INVALID_SIZE";
    case 0x9: return "CUFFT_UNALIGNED_DATA";
    case 0xA: return "CUFFT_INCOMPLETE_PARAMETER_LIST";
    case 0xB: return "CUFFT_INVALID_DEVICE";
    case 0xC: return "CUFFT_PARSE_ERROR";
    case 0xD: return "CUFFT_NO_WORKSPACE";
    case 0xE: return "CUFFT_NOT_IMPLEMENTED";
    case 0xF: return "CUFFT_LICENSE_ERROR";
    case 0x10: return "CUFFT_NOT_SUPPORTED";
    case 0x11: return "CUFFT_MISSING_DEPENDENCY";
    case 0x12: return "CUFFT_NVRTC_FAILURE";
    case 0x13: return "CUFFT_NVJITLINK_FAILURE";
    case 0x14: return "CUFFT_NVSHMEM_FAILURE";
    default: return fmt::format("{:#x}", code);
  }
}

std::shared_ptr<fft_plan> make_cufft_plan(const command_queue& queue, const fft_geometry& geometry,
                                          const fft_tuning& tuning) {
  const auto what = [&] {
    return fmt::format("make a plan of cuFFT, {}, on device '{}'", to_string(geometry),
                       queue.device().name());
  };
  tune::detail::refuse_if_forked(what);
  tune::detail::check_seal(sealed_action::load, what);
  return std::make_shared<cufft_plan>(queue, geometry, tuning);
}

}  // namespace tune::operations::transforms
