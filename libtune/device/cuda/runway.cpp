// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/runway.hpp"

#include <array>
#include <chrono>

namespace tune::cuda {
namespace {

// Several times what enqueueing two events and a launch takes the host.
constexpr std::chrono::microseconds length{20};

constexpr const char* name = "runway.kernel";

program_source source() {
  return {.name = name,
          .text = R"(
extern "C" __global__ void runway(long long cycles) {
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

runway::runway(const cuda_context& context)
    : context_(context),
      library_(context, name, compile(context)),
      kernel_(library_.kernel("runway")),
      cycles_(cycles_of(context.info().limits)) {}

CUresult runway::launch(CUstream stream) const {
  long long cycles = cycles_;
  std::array<void*, 1> arguments{&cycles};
  return context_.api().launch_kernel(reinterpret_cast<CUfunction>(kernel_), 1, 1, 1, 1, 1, 1, 0,
                                      stream, arguments.data(), nullptr);
}

}  // namespace tune::cuda
