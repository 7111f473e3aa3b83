// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/context.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/cuda/fill.hpp"
#include "libtune/device/cuda/green_context.hpp"
#include "libtune/device/cuda/memory.hpp"
#include "libtune/device/cuda/program.hpp"
#include "libtune/device/cuda/queue.hpp"

namespace tune::cuda {
namespace {

std::shared_ptr<cuda_context> shared(detail::context_interface& context) {
  return std::static_pointer_cast<cuda_context>(context.shared_from_this());
}

}  // namespace

std::shared_ptr<cuda_context> cuda_context::create(
    const std::shared_ptr<const cuda_device>& device) {
  const driver_api& api = device->api();
  CUcontext created = nullptr;
  cuda::check(api, api.context_create(&created, CU_CTX_SCHED_AUTO, device->handle()), "cuCtxCreate",
              device->info());
  auto context = std::make_shared<cuda_context>(device, created, ownership::owned);
  // Making a context also makes it current; this undoes that.
  CUcontext popped = nullptr;
  context->check(api.context_pop(&popped), "cuCtxPopCurrent");
  return context;
}

cuda_context::cuda_context(std::shared_ptr<const cuda_device> device, CUcontext handle,
                           ownership owner)
    : context_interface(device),
      device_(std::move(device)),
      handle_(handle),
      ownership_(owner),
      green_(device_->resources() != nullptr ? std::make_unique<const green_context>(*device_)
                                             : nullptr) {}

cuda_context::~cuda_context() {
  delay_.reset();
  fill_kernels_.reset();
  if (ownership_ == ownership::owned && !detail::is_forked()) {
    log_failure(api(), api().context_destroy(handle_), "cuCtxDestroy");
  }
}

CUcontext cuda_context::stream_context() const noexcept {
  return green_ != nullptr ? green_->as_context() : handle_;
}

const delay_kernel* cuda_context::timing_delay() const {
  std::call_once(delay_made_, [this] {
    try {
      delay_ = std::make_unique<const delay_kernel>(*this);
    } catch (const std::exception& failure) {
      warn_once(std::string("times of CUDA launches may include gaps: ") + failure.what());
    }
  });
  return delay_.get();
}

const fill_kernels& cuda_context::fill_kernels() const {
  return fill_kernels_.get([this] {
    detail::check_seal(sealed_action::compile, [this] {
      return "compile 'fill.kernel' for the first such fill on device '" + info().identity.name +
             "'";
    });
    return std::make_unique<const cuda::fill_kernels>(*this);
  });
}

std::shared_ptr<detail::buffer_interface> cuda_context::do_create_buffer(std::size_t bytes) {
  return make_buffer(shared(*this), bytes);
}

std::shared_ptr<detail::buffer_interface> cuda_context::do_create_managed_buffer(
    std::size_t bytes) {
  return make_managed_buffer(shared(*this), bytes);
}

std::shared_ptr<detail::buffer_interface> cuda_context::do_create_image(
    const image_layout& layout) {
  return make_image(shared(*this), layout);
}

std::shared_ptr<detail::buffer_interface> cuda_context::do_create_sub_buffer(
    const std::shared_ptr<detail::buffer_interface>& parent, std::size_t offset_bytes,
    std::size_t bytes) {
  return std::make_shared<cuda_buffer>(std::static_pointer_cast<cuda_buffer>(parent), offset_bytes,
                                       bytes);
}

std::shared_ptr<detail::pinned_memory_interface> cuda_context::do_create_pinned_memory(
    std::size_t bytes) {
  return make_pinned_memory(shared(*this), bytes);
}

std::shared_ptr<detail::queue_interface> cuda_context::do_create_queue(
    detail::queue_settings settings) {
  const auto entered = enter();
  const relaxed_capture spared(api());
  CUstream stream = nullptr;
  if (settings.profiling) timing_delay();  // made now, so that it is not made in a measurement
  if (green_ != nullptr) {
    stream = green_->create_stream();
  } else {
    check(api().stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  }
  return std::make_shared<cuda_queue>(shared(*this), stream, ownership::owned, settings);
}

std::shared_ptr<detail::program_interface> cuda_context::do_create_program(
    const program_source& source) {
  compiled_program compiled =
      device_->compiler().compile(source, *info().hardware.compute_capability);
  const std::size_t bytes = compiled.binary.size();
  auto made =
      std::make_shared<cuda_program>(shared(*this), source.name, std::move(compiled.binary));
  made->set_included(std::move(compiled.included));
  made->set_binary_bytes(bytes);
  return made;
}

std::shared_ptr<detail::program_interface> cuda_context::do_create_program_from_binary(
    const std::string& name, std::span<const std::byte> binary) {
  return std::make_shared<cuda_program>(shared(*this), name,
                                        std::vector<std::byte>(binary.begin(), binary.end()));
}

std::string cuda_context::do_compiler_identity() const {
  return device_->compiler().identity_for(*info().hardware.compute_capability);
}

std::optional<memory_figures> cuda_context::do_memory() const {
  if (api().memory_get_info == nullptr) return std::nullopt;
  const auto entered = enter();
  const relaxed_capture spared(api());
  memory_figures now;
  check(api().memory_get_info(&now.free_bytes, &now.total_bytes), "cuMemGetInfo");
  return now;
}

void cuda_context::add_stream(CUstream stream) {
  const std::lock_guard lock(streams_mutex_);
  streams_.push_back(stream);
}

void cuda_context::remove_stream(CUstream stream) noexcept {
  const std::lock_guard lock(streams_mutex_);
  const auto found = std::ranges::find(streams_, stream);
  if (found != streams_.end()) streams_.erase(found);
}

// The legacy default stream reveals captures of all streams that wait for it, from any library. Of
// the other streams, only those that libtune has made or wrapped are known.
std::string cuda_context::do_find_capture() const {
  if (api().stream_is_capturing == nullptr || is_shut_down()) return {};
  const auto entered = enter();
  const auto is_capturing = [&](CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult answer = api().stream_is_capturing(stream, &status);
    return answer == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
           (answer == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE);
  };
  const std::lock_guard lock(streams_mutex_);
  const bool any = is_capturing(CU_STREAM_LEGACY) || std::ranges::any_of(streams_, is_capturing);
  return any ? "the capture of a stream of this context" : "";
}

std::shared_ptr<const void> cuda_context::do_spare_captures() const {
  return std::make_shared<const relaxed_capture>(api());
}

}  // namespace tune::cuda
