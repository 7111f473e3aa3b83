// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what is the cost of one program when many are compiled, by 1, 2, 4 ... workers, and by
// as many threads of this process?
//
//   compile_bench [small programs] [heavy programs] [compiler identity]
//
// for the device that LIBTUNE_DEVICE names, else the best. No text occurs twice, so no cache helps.
// Each pool is new: "start" is the time from its construction to the end of the first program, with
// programs already waiting, and the rest is the time from the first program to the last, divided by
// the number in between, in steady state with all workers running. With an identity, such as "NVRTC
// 13.0 sm_90", only workers compile, and no device is needed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/pool/worker_pool.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/kernel/preamble.hpp"
#include "libtune/libtune.hpp"
#include "libtune/process/usable_resources.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using sources = std::vector<tune::program_source>;

double milliseconds(clock_type::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string unique_number() {
  static const auto salt = clock_type::now().time_since_epoch().count() % 1'000'000'007;
  static int next = 0;
  return fmt::format("{}.0f + {}.0f", salt, ++next);
}

std::string small_text() {
  return fmt::format(R"(
KERNEL REQD_WORK_GROUP_SIZE(128, 1, 1)
void scale(GLOBAL float* data, float factor) {{
  data[get_global_id(0)] = data[get_global_id(0)] * factor + ({});
}})",
                     unique_number());
}

std::string heavy_text() {
  return fmt::format(R"(
KERNEL REQD_WORK_GROUP_SIZE(128, 1, 1)
void chain(GLOBAL float* data, uint stride) {{
  LOCAL_DECL float part[256];
  float x = ({});
  UNROLL for (int i = 0; i < 96; ++i) {{
    part[(get_local_id(0) * 7 + i) % 256] = x;
    BARRIER();
    x = fma(x, data[get_global_id(0) + i * stride], part[(get_local_id(0) + i) % 256]);
  }}
  data[get_global_id(0)] = x;
}})",
                     unique_number());
}

sources make(tune::kernel_language language, int count, std::string (*text)()) {
  sources made;
  for (int i = 0; i < count; ++i) {
    made.push_back({.name = "bench.kernel",
                    .text = std::string(tune::preamble(language)) + text(),
                    .options = {}});
  }
  return made;
}

/// The target of a compilation: a device, or an identity for NVRTC.
struct subject {
  std::optional<tune::context> context;
  tune::detail::compile_target target;
  tune::kernel_language language = tune::kernel_language::cuda_cpp;
};

subject device_subject() {
  const tune::device device = tune::select_device();
  std::printf("%s, %s\n", device.name().c_str(), device.platform_name().c_str());
  subject made{.context = device.create_context(), .target = {}, .language = {}};
  made.language = device.info().language;
  made.target = {.backend = device.info().backend,
                 .platform = device.platform_name(),
                 .device = device.name(),
                 .driver_version = device.driver_version(),
                 .compiler_identity = made.context->compiler_identity()};
  made.target.compute_capability =
      device.info().hardware.compute_capability.value_or(tune::compute_capability{});
  return made;
}

subject nvrtc_subject(const std::string& identity) {
  const int architecture = std::atoi(identity.substr(identity.find("sm_") + 3).c_str());
  return {.context = std::nullopt,
          .target = {.backend = "CUDA",
                     .compiler_identity = identity,
                     .compute_capability = {architecture / 10, architecture % 10}}};
}

void report(const char* what, int width, double start, double each) {
  std::printf("  %2d %-8s start %8.1f ms, then %8.2f ms a program\n", width, what, start, each);
  std::fflush(stdout);
}

void bench_workers(const subject& of, int workers, const sources& programs) {
  const auto begin = clock_type::now();
  tune::detail::worker_pool pool({.program = tune::detail::find_worker_program(),
                                  .workers = workers,
                                  .memory_bytes = std::uint64_t{4} << 30});
  std::vector<tune::compile_future> futures;
  std::vector<clock_type::time_point> ends(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    tune::detail::sha256_digest key{};
    std::copy_n(reinterpret_cast<const std::byte*>(&i), sizeof i, key.begin());
    tune::detail::compile_order order{.target = of.target, .source = programs[i]};
    auto job = pool.submit(key, std::move(order), {});
    if (job == nullptr) std::exit(1);
    futures.emplace_back(std::move(job));
    futures.back().on_done([&ends, i] { ends[i] = clock_type::now(); });
  }
  for (const tune::compile_future& future : futures) {
    if (future.result().what != tune::compile_result::status::built) {
      std::fprintf(stderr, "%s\n", future.result().text.c_str());
      std::exit(1);
    }
  }
  pool.stop();  // afterwards every end has been noted
  std::sort(ends.begin(), ends.end());
  // The first programs include the start of the workers.
  const std::size_t first =
      std::min(std::size_t{2} * static_cast<std::size_t>(workers), ends.size() / 2);
  report("workers", workers, milliseconds(ends[0] - begin),
         milliseconds(ends.back() - ends[first]) / static_cast<double>(ends.size() - 1 - first));
}

void bench_threads(const tune::context& context, int threads, const sources& programs) {
  const auto begin = clock_type::now();
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      for (std::size_t i = next++; i < programs.size(); i = next++) {
        context.create_program(programs[i]);
      }
    });
  }
  running.clear();
  report("threads", threads, 0.0,
         milliseconds(clock_type::now() - begin) / static_cast<double>(programs.size()));
}

void bench(const subject& of, const char* name, int count, std::string (*text)()) {
  if (count <= 0) return;
  const int cores = tune::detail::find_usable_resources().cores;
  std::vector<int> widths;
  for (int width = 1; width < cores; width *= 2) widths.push_back(width);
  widths.push_back(cores);
  std::printf("%s:\n", name);
  for (const int width : widths) {
    // Enough for several programs each, and few enough for a single worker.
    const int programs = std::max(4 * width, count * width / cores);
    bench_workers(of, width, make(of.language, programs, text));
    if (of.context) bench_threads(*of.context, width, make(of.language, programs, text));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int small = argc > 1 ? std::atoi(argv[1]) : 400;
  const int heavy = argc > 2 ? std::atoi(argv[2]) : 64;
  const subject of = argc > 3 ? nvrtc_subject(argv[3]) : device_subject();
  bench(of, "small programs", small, small_text);
  bench(of, "heavy programs", heavy, heavy_text);
}
