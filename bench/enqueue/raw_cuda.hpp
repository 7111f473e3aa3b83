// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <vector>

#include "bench/enqueue/raw_launch.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/device/kernel.hpp"

namespace bench {

/// The few functions of the driver for the raw side, by their names since CUDA 4, so that this
/// needs no CUDA header.
struct raw_driver {
  raw_driver() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return;
    const auto find = [library](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    };
    find(set_context, "cuCtxSetCurrent");
    find(module_load, "cuModuleLoadData");
    find(module_unload, "cuModuleUnload");
    find(module_function, "cuModuleGetFunction");
    find(launch, "cuLaunchKernel");
    find(synchronize, "cuStreamSynchronize");
  }

  int (*set_context)(void*) = nullptr;
  int (*module_load)(void**, const void*) = nullptr;
  int (*module_unload)(void*) = nullptr;
  int (*module_function)(void**, void*, const char*) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**) = nullptr;
  int (*synchronize)(void*) = nullptr;
};

/// Launches by cuLaunchKernel, with libtune's binary, on a stream of the same context.
class raw_cuda final : public raw_launch {
 public:
  raw_cuda(const tune::context& context, const tune::program& program)
      : queue_(context.create_command_queue()), data_(context.create_buffer(64)) {
    const std::vector<std::byte> cubin = program.binary();
    driver_.set_context(tune::cuda::native_handle(context));
    driver_.module_load(&module_, cubin.data());
    driver_.module_function(&function_, module_, "touch");
    stream_ = tune::cuda::native_handle(queue_);
    address_ = tune::cuda::native_handle(data_);
  }
  ~raw_cuda() override { driver_.module_unload(module_); }

  bool enqueue() override {
    void* arguments[] = {&address_, &factor_, &offset_};
    return driver_.launch(function_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr) == 0;
  }
  void finish() override { driver_.synchronize(stream_); }

 private:
  raw_driver driver_;
  tune::command_queue queue_;
  tune::buffer data_;
  void* module_ = nullptr;
  void* function_ = nullptr;
  void* stream_ = nullptr;
  std::uintptr_t address_ = 0;
  float factor_ = 1.0F;
  int offset_ = 0;
};

}  // namespace bench
