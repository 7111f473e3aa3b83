// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what is the cost of a start with known results: the tiled diffusion kernel on CUDA, its
// tuning in the database and its binary in the program cache?
//
// In one warm process, in turn, many times: constructing the template and an operation of it
// (lookup, binary from the cache, kernel object), and destroying both; cuModuleLoadData of the same
// binary, cuModuleGetFunction, and cuModuleUnload, alone; one lookup in the same database, alone;
// and the same construction with the program cache off, so that it compiles. Reported: the medians,
// the construction over the load and the lookup, without and with its destruction, and the
// compiling construction over the cached one. A driver that loads lazily loads the kernel itself
// in cuModuleGetFunction.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/enqueue/host_time.hpp"
#include "bench/enqueue/raw_cuda.hpp"
#include "examples/diffusion/diffusion.hpp"
#include "libtune/libtune.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace {

using bench::median;
using diffusion::diffusion_key;
using diffusion::diffusion_template;
using diffusion::diffusion_tuning;

constexpr diffusion_key key{.kernel = diffusion::variant::tiled, .size = 4096};
constexpr diffusion_tuning winner{32, 4, 4, 2};

double microseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

void measure_on(const tune::device& device) {
  const tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const std::string cache = (folder / "programs").string();
  ::setenv("LIBTUNE_DB", path.c_str(), 1);
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  const tune::function_identity function{"diffusion_template.autotune", 0,
                                         tune::describe_fields<diffusion_key>(),
                                         tune::describe_fields<diffusion_tuning>()};
  const tune::record_key row{tune::to_values(key), device.identity()};
  tune::tuning_database database(path);
  database.store(function, row, tune::to_values(winner), 53'000.0);

  std::optional<diffusion_template> made;
  std::optional<diffusion::diffusion_operation> operation;
  const auto construct = [&] {
    made.emplace(context, key);
    operation.emplace(made->instantiate(queue, 4096, 4096));
  };
  const auto destroy = [&] {
    operation.reset();
    made.reset();
  };
  ::setenv("LIBTUNE_CACHE", cache.c_str(), 1);
  construct();  // fills the cache
  destroy();
  const std::vector<std::byte> binary = diffusion_template(context, key).binary();
  const bench::raw_driver driver;
  driver.set_context(tune::cuda::native_handle(context));
  std::vector<double> cached, destroyed, load, function_found, unload, lookup, compiled;
  for (int i = 0; i < 200; ++i) {
    ::setenv("LIBTUNE_CACHE", cache.c_str(), 1);
    cached.push_back(microseconds(construct));
    destroyed.push_back(microseconds(destroy));
    void* module = nullptr;
    void* kernel = nullptr;
    load.push_back(microseconds([&] { driver.module_load(&module, binary.data()); }));
    function_found.push_back(
        microseconds([&] { driver.module_function(&kernel, module, "diffuse"); }));
    unload.push_back(microseconds([&] { driver.module_unload(module); }));
    lookup.push_back(microseconds([&] { database.find(function, row); }));
    if (i % 10 != 0) continue;
    ::setenv("LIBTUNE_CACHE", "off", 1);
    compiled.push_back(microseconds(construct));
    destroy();
  }
  const double floor = median(load) + median(lookup);
  std::printf(
      "%s\n  construct, all cached   %9.1f us\n  destroy                 %9.1f us\n"
      "  cuModuleLoadData        %9.1f us\n  cuModuleGetFunction     %9.1f us\n"
      "  cuModuleUnload          %9.1f us\n  SQLite lookup           %9.1f us\n"
      "  construct, compiling    %9.1f us\n  cached / floor          %9.2f\n"
      "  and destroyed / floor   %9.2f\n  compiling / cached      %9.1f\n",
      device.name().c_str(), median(cached), median(destroyed), median(load),
      median(function_found), median(unload), median(lookup), median(compiled),
      median(cached) / floor, (median(cached) + median(destroyed)) / floor,
      median(compiled) / median(cached));
}

}  // namespace

int main() {
  for (const tune::device& device : tune::all_devices()) {
    if (device.info().backend == "CUDA") {
      measure_on(device);
      return 0;
    }
  }
  std::printf("no CUDA device\n");
}
