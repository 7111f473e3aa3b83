// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Compiling for a device of the fake driver, in this process as a worker does it and by a pool.
#include <doctest/doctest.h>
#include <span>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/cuda/cubin.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace offline_compile_test {

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

}  // namespace offline_compile_test
