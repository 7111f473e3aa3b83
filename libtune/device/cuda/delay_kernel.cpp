// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/delay_kernel.hpp"

#include <array>
#include <chrono>

namespace tune::cuda {
namespace {

// Several times what enqueueing two events and a launch takes the host.
constexpr std::chrono::microseconds length{20};

constexpr const char* name = "delay.kernel";

program_source source() {
  return {.name = name,
          .text = R"(
extern "C" __global__ void delay(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
})",
          .options = {}};
}

long long cycles_of(const device_limits& limits) {
  constexpr long long usual_clock_khz = 1'500'000;
  const auto known = static_cast<long long>(limits.clock_khz);
  return (known > 0 ? known : usual_clock_khz) * length.count() / 1000;
}

std::vector<std::byte> compile(const cuda_context& context) {
  return context.cuda().compiler().compile_to_cubin(source(),
                                                    *context.info().hardware.compute_capability);
}

}  // namespace

delay_kernel::delay_kernel(const cuda_context& context)
    : context_(context),
      library_(context, name, compile(context)),
      kernel_(library_.kernel("delay")),
      cycles_(cycles_of(context.info().limits)) {}

CUresult delay_kernel::launch(CUstream stream) const {
  long long cycles = cycles_;
  std::array<void*, 1> arguments{&cycles};
  return context_.api().launch_kernel(reinterpret_cast<CUfunction>(kernel_), 1, 1, 1, 1, 1, 1, 0,
                                      stream, arguments.data(), nullptr);
}

}  // namespace tune::cuda
