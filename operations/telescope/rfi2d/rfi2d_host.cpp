// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/rfi2d_host.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <sched.h>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "operations/telescope/rfi2d/lanes/block.hpp"
#include "operations/telescope/rfi2d/lanes/flat_plan.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t block_baselines = 16;
constexpr std::size_t alignment = 64;

flag_block_function* flag_block_of_this_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return flag_block_avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return flag_block_avx2;
#endif
  return flag_block_baseline;
}

std::size_t usable_processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1U);
}

struct free_aligned {
  void operator()(void* memory) const noexcept {
    ::operator delete (memory, std::align_val_t{alignment});
  }
};

/// Calls work(scratch, block) for every block, on the given number of threads. Rethrows the first
/// exception.
template <class Work>
void share_blocks(std::size_t blocks, std::size_t threads, std::size_t scratch_bytes,
                  const Work& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> failures(threads);
  const auto serve = [&](std::size_t number) {
    try {
      const std::unique_ptr<void, free_aligned> scratch(
          ::operator new (scratch_bytes, std::align_val_t{alignment}));
      for (std::size_t block = next++; block < blocks; block = next++) work(scratch.get(), block);
    } catch (...) {
      failures[number] = std::current_exception();
      next = blocks;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(serve, i);
    serve(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

template <class T>
host_array<std::uint8_t> flag_all(const rfi2d_parameters& parameters, std::size_t threads,
                                  const host_array<T>& data,
                                  const host_array<std::uint8_t>& flags) {
  const shape& size = data.size();
  if (size.rank() != 3 || flags.size() != size) {
    throw argument_error(
        fmt::format("rfi2d_host_flagger: data of shape {} and flags of shape {}; both have to be "
                    "times x channels x baselines",
                    to_string(size), to_string(flags.size())));
  }
  host_array<std::uint8_t> result(size);
  const flat_plan flat(rfi2d_plan(parameters, size[0], size[1]));
  const std::size_t baselines = size[2];
  if (size.elements() == 0) return result;
  constexpr bool is_complex = !std::is_same_v<T, float>;
  // With few baselines vectors are not filled, so that every thread has baselines.
  const std::size_t width =
      std::clamp<std::size_t>((baselines + threads - 1) / threads, 1, block_baselines);
  const std::size_t blocks = (baselines + width - 1) / width;
  const auto work = [&, flag_block = flag_block_of_this_processor()](void* scratch,
                                                                     std::size_t block) {
    const std::size_t first = block * width;
    const auto place = [](const array_layout& layout) {
      return std::pair(layout.padded()[1] * layout.padded()[2], layout.padded()[2]);
    };
    const auto [data_time, data_channel] = place(data.layout());
    const auto [flags_time, flags_channel] = place(flags.layout());
    const auto [result_time, result_channel] = place(result.layout());
    flag_block(flat.plan,
               {.baselines = std::min(width, baselines - first),
                .data = reinterpret_cast<const float*>(data.data() + first),
                .is_complex = is_complex,
                .data_time = data_time,
                .data_channel = data_channel,
                .flags = flags.data() + first,
                .flags_time = flags_time,
                .flags_channel = flags_channel,
                .result = result.data() + first,
                .result_time = result_time,
                .result_channel = result_channel},
               scratch);
  };
  share_blocks(blocks, std::min(threads, blocks), block_scratch_bytes(flat.plan), work);
  return result;
}

}  // namespace

rfi2d_host_flagger::rfi2d_host_flagger(rfi2d_parameters parameters, std::size_t threads)
    : parameters_(std::move(parameters)), threads_(threads != 0 ? threads : usable_processors()) {
  static_cast<void>(rfi2d_plan(parameters_, 1, 1));  // checks them
}

host_array<std::uint8_t> rfi2d_host_flagger::flag(const host_array<std::complex<float>>& data,
                                                  const host_array<std::uint8_t>& flags) const {
  return flag_all(parameters_, threads_, data, flags);
}

host_array<std::uint8_t> rfi2d_host_flagger::flag(const host_array<float>& data,
                                                  const host_array<std::uint8_t>& flags) const {
  return flag_all(parameters_, threads_, data, flags);
}

}  // namespace tune::operations
