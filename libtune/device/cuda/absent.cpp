// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces the backend in a library built without it.
#include "libtune/base/error.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/device/cuda/tensor_map.hpp"

namespace tune::cuda {
namespace {

constexpr const char* reason = "excluded at configure time: " LIBTUNE_CUDA_ABSENCE;

[[noreturn]] void throw_absent() {
  throw no_device_error(std::string("CUDA cannot be used: ") + reason);
}

}  // namespace

const inventory& take_inventory() noexcept {
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): nothing helps
  static const inventory* const taken = new inventory{{}, reason};
  return *taken;
}

compiled_program compile_for(compute_capability, const std::string&, const program_source&) {
  throw_absent();
}
void prepare_compiler_for(compute_capability, const std::string&) { throw_absent(); }
device compile_only_device(compute_capability) { throw_absent(); }

context wrap_context(void*) { throw_absent(); }
command_queue wrap_stream(const context&, void*, command_queue_options) { throw_absent(); }
buffer wrap_memory(const context&, std::uintptr_t, std::size_t) { throw_absent(); }
context_scope::context_scope(const context&) { throw_absent(); }
void* native_handle(const context&) { throw_absent(); }
void* native_handle(const command_queue&) { throw_absent(); }
std::uintptr_t native_handle(const buffer&) { throw_absent(); }
tensor_map make_tensor_map(const buffer&, const tensor_boxes&) { throw_absent(); }

}  // namespace tune::cuda
