// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/cubin.hpp"

#include <doctest/doctest.h>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/kernel/preamble.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace cubin_test {

std::vector<std::byte> small_cubin() {
  return fake_cuda::compiler().compile_to_cubin(
      {.name = "f", .text = "extern \"C\" __global__ void f() {}", .options = {}}, {9, 0});
}

TEST_CASE("nothing, text and zeros are no machine code") {
  CHECK_FALSE(tune::cuda::is_complete_cubin({}));
  CHECK_FALSE(tune::cuda::is_complete_cubin(std::vector<std::byte>(5000)));
  CHECK_FALSE(tune::cuda::is_complete_cubin(std::vector<std::byte>(5000, std::byte{'x'})));
}

COMPILER_TEST_CASE("machine code is whole, however little is cut off") {
  const std::vector<std::byte> cubin = small_cubin();
  CHECK(tune::cuda::is_complete_cubin(cubin));
  for (std::size_t size = 0; size < cubin.size(); ++size) {
    const bool complete = tune::cuda::is_complete_cubin(std::span(cubin).first(size));
    if (complete) FAIL_CHECK("complete with " << size << " of " << cubin.size() << " bytes");
  }
}

COMPILER_TEST_CASE("code of another machine is none of CUDA") {
  std::vector<std::byte> cubin = small_cubin();
  cubin[18] = std::byte{62};  // x86-64
  CHECK_FALSE(tune::cuda::is_complete_cubin(cubin));
}

/// Returns the work groups that the kernels of a text require, as "name=1x2x3" in the order of
/// their names.
std::string required_by(const std::string& text) {
  const std::string preamble(tune::preamble(tune::kernel_language::cuda_cpp));
  std::string all;
  for (const tune::compute_capability architecture : {tune::compute_capability{7, 5}, {9, 0}}) {
    const auto cubin = fake_cuda::compiler().compile_to_cubin(
        {.name = "required.kernel", .text = preamble + text, .options = {}}, architecture);
    std::string found;
    for (const auto& [name, size] : tune::cuda::find_required_work_groups(cubin)) {
      found += (found.empty() ? "" : " ") + name + "=" + std::to_string(size.x) + "x" +
               std::to_string(size.y) + "x" + std::to_string(size.z);
    }
    if (!all.empty()) CHECK(found == all);
    all = found;
  }
  return all;
}

COMPILER_TEST_CASE("the required work group of each kernel is found in its machine code") {
  CHECK(required_by(R"(
#define wgs (16 * 2)
KERNEL REQD_WORK_GROUP_SIZE(wgs, 4, 2) void b(GLOBAL float* out) { out[get_global_id(0)] = 1; }
KERNEL REQD_WORK_GROUP_SIZE(96, 1, 1)
void a(GLOBAL float* out) { out[get_global_id(0)] = 2; }
KERNEL void any(GLOBAL float* out) { out[get_global_id(0)] = 3; }
KERNEL __launch_bounds__(64) void bounded(GLOBAL float* out) { out[get_global_id(0)] = 4; }
)") == "a=96x1x1 b=32x4x2");
}

COMPILER_TEST_CASE(
    "a kernel of a shape that another kernel has too is found, one of two shapes is not") {
  CHECK(required_by(R"(
KERNEL REQD_WORK_GROUP_SIZE(8, 8, 1) void a() {}
KERNEL REQD_WORK_GROUP_SIZE(8, 8, 1) void b() {}
KERNEL REQD_WORK_GROUP_SIZE(8, 4, 1) void c() {}
KERNEL REQD_WORK_GROUP_SIZE(32, 1, 1) void d() {}
)") == "a=8x8x1 b=8x8x1");
}

COMPILER_TEST_CASE(
    "damaged machine code does not lead the search for required work groups astray") {
  const std::string text = std::string(tune::preamble(tune::kernel_language::cuda_cpp)) +
                           "KERNEL REQD_WORK_GROUP_SIZE(8, 8, 1) void f() {}";
  const auto cubin =
      fake_cuda::compiler().compile_to_cubin({.name = "f", .text = text, .options = {}}, {9, 0});
  std::size_t complete = 0;
  for (std::size_t at = 0; at < cubin.size(); ++at) {
    auto damaged = cubin;
    damaged[at] = ~damaged[at];
    if (!tune::cuda::is_complete_cubin(damaged)) continue;
    ++complete;
    CHECK(tune::cuda::find_required_work_groups(damaged).size() <= 1);
  }
  CHECK(complete > 0);
}

// Compiling for a device of the fake driver, in this process as a worker does it and by a pool.

const tune::program_source source{.name = "add.cu",
                                  .text =
                                      "extern \"C\" __global__ void add(float* data) "
                                      "{ data[threadIdx.x] += 1.0f; }",
                                  .options = {}};

COMPILER_TEST_CASE("a worker makes the machine code that this process would make") {
  const tune::context context = fake_cuda::make_device().create_context();
  tune::compile_pool pool({.program = tune::detail::find_worker_program(), .workers = 1});
  REQUIRE(pool.can_compile(context));
  const tune::compile_result result = pool.submit(context, source).result();
  CAPTURE(result.text);
  REQUIRE(result.what == tune::compile_result::status::built);
  CHECK(tune::cuda::is_complete_cubin(result.binary));
  CHECK(result.binary == context.create_program(source).binary());
}

COMPILER_TEST_CASE("what NVRTC says in a worker is what it says here") {
  const tune::context context = fake_cuda::make_device().create_context();
  tune::compile_pool pool({.program = tune::detail::find_worker_program(), .workers = 1});
  const tune::program_source wrong{.name = "wrong.cu", .text = "no kernel", .options = {}};
  const tune::compile_result result = pool.submit(context, wrong).result();
  CHECK(result.what == tune::compile_result::status::build_failed);
  std::string log;
  try {
    context.create_program(wrong);
  } catch (const tune::build_error& failure) {
    log = failure.log();
  }
  CHECK(result.text == log);
  CHECK_FALSE(log.empty());
}

COMPILER_TEST_CASE("NVRTC compiles for another process only what that would compile itself") {
  const tune::device device = fake_cuda::make_device();
  const std::string identity = device.create_context().compiler_identity();
  const auto capability = *device.info().hardware.compute_capability;
  CHECK_NOTHROW(tune::cuda::prepare_compiler_for(capability, identity));
  CHECK_THROWS_WITH_AS(tune::cuda::compile_for(capability, "NVRTC 1.0 sm_10", source),
                       doctest::Contains("not NVRTC 1.0 sm_10"), tune::error);
}

COMPILER_TEST_CASE(
    "a kernel that a C++ expression calls for is found by it, also in a cached binary") {
  const tune::context context = fake_cuda::make_device().create_context();
  const std::string expression = "app::scale<float, (wgs * 2)>";
  const tune::program_source templates{
      .name = "scale.cu",
      .text =
          "#define wgs 32\n"
          "namespace app { template <class T, int Factor> __global__ void scale(T* data) "
          "{ data[threadIdx.x] *= Factor; } }",
      .options = {"--kernel-name=" + expression}};
  tune::compile_pool pool({.program = tune::detail::find_worker_program(), .workers = 1});
  const tune::compile_result result = pool.submit(context, templates).result();
  CAPTURE(result.text);
  REQUIRE(result.what == tune::compile_result::status::built);
  CHECK(tune::cuda::is_complete_cubin(result.binary));
  const tune::cuda::kernel_symbols symbols = tune::cuda::read_symbols(result.binary);
  REQUIRE(symbols.size() == 1);
  CHECK(tune::cuda::symbol_of(symbols, "scale") == "scale");
  CHECK(tune::cuda::symbol_of(symbols, expression) == "_ZN3app5scaleIfLi64EEEvPT_");
  const std::string symbol = tune::cuda::symbol_of(symbols, expression);
  CHECK(tune::cuda::kernel_names(result.binary) == std::vector{symbol});
  CHECK(context.create_program_from_binary("scale.cu", result.binary).binary() == result.binary);
  for (std::size_t size = 0; size < result.binary.size(); size += 7) {
    CHECK(tune::cuda::read_symbols(std::span(result.binary).first(size)).empty());
  }
}

}  // namespace cubin_test
