// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/check_compiles.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/kernel/library_kernels.hpp"

namespace check_compiles_test {

const tune::kernel_source scale{"scale.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 2, 1) void scale(GLOBAL float4* data, float factor) {
  data[get_global_id(0)] *= factor;
})"};

const tune::defines macros = tune::defines().add("wgs", 64);

/// Whether kernels can be compiled for CUDA; else the test case is skipped.
bool has_cuda() {
  try {
    return !tune::compile_targets("cuda sm_90").empty();
  } catch (const tune::no_device_error& absent) {
    tune::testing::skip(absent.what());
    return false;
  }
}

std::string complaint(const tune::kernel_source& source, const tune::defines& with,
                      const std::string& target) {
  try {
    tune::check_compiles(source, with, target);
  } catch (const tune::build_error& failure) {
    return failure.what();
  }
  return {};
}

TEST_CASE("a kernel is checked for CUDA without a GPU") {
  if (!has_cuda()) return;
  CHECK(complaint(scale, macros, "cuda sm_90").empty());
  CHECK(complaint(scale, macros, "cuda sm_75").empty());
  CHECK(complaint(scale, macros, "cuda").empty());
  const std::string text =
      complaint({"bad.kernel", "KERNEL void f() {\n  oops;\n}\n"}, macros, "cuda sm_90");
  CAPTURE(text);
  CHECK(text.find("'bad.kernel' does not compile: bad.kernel:2: error: ") == 0);
  CHECK(text.find("with wgs=64") != std::string::npos);
}

TEST_CASE("a kernel is checked for what the generation lacks") {
  if (!has_cuda()) return;
  const tune::kernel_source late{"late.kernel",
                                 "#if __CUDA_ARCH__ < 900\n#error too early\n#endif\n"};
  CHECK(complaint(late, {}, "cuda sm_90").empty());
  CHECK(complaint(late, {}, "cuda sm_80").find("too early") != std::string::npos);
  CHECK_THROWS_AS(tune::compile_targets("cuda sm_99"), tune::no_device_error);
}

LIBTUNE_DEVICE_TEST_CASE("a kernel is checked for the OpenCL devices that there are", device) {
  if (device.info().backend != "OpenCL") return;
  CHECK(complaint(scale, macros, "opencl").empty());
  CHECK(complaint({"bad.kernel", "KERNEL void f() {\n  oops;\n}\n"}, macros, "opencl")
            .find("bad.kernel:2:") != std::string::npos);
}

TEST_CASE("a text that means no target is refused, with those that do") {
  for (const char* target :
       {"", "cuda ", "cuda sm_", "cuda 90", "cuda sm_9x", "opencl gpu", "hip"}) {
    CAPTURE(target);
    CHECK_THROWS_WITH_AS(tune::check_compiles(scale, macros, target),
                         doctest::Contains("\"cuda sm_90\""), tune::argument_error);
  }
}

TEST_CASE("a device to compile for has kernels, and says that it is not there") {
  if (!has_cuda()) return;
  const tune::context context = tune::compile_targets("cuda sm_90").front().create_context();
  const tune::program built = tune::compile(context, scale, macros);
  const tune::work_size required = built.create_kernel("scale").info().required_work_group_size;
  CHECK(required == tune::work_size{64, 2, 1});
  CHECK_FALSE(built.binary().empty());
  CHECK_NOTHROW(context.create_program_from_binary("scale", built.binary()));
  for (const std::function<void()>& call :
       {std::function<void()>([&] { built.create_kernel("x"); }),
        {[&] { context.create_buffer(4); }},
        {[&] { context.create_command_queue(); }}}) {
    CHECK_THROWS_WITH_AS(call(), doctest::Contains("only compiles"), tune::device_error);
  }
}

TEST_CASE("the words of the preambles compile everywhere, as a test of an application says it") {
  LIBTUNE_CHECK_COMPILES(library_kernels::words(), tune::defines().add("words_rounds", 2),
                         "cuda sm_90");
  LIBTUNE_CHECK_COMPILES(library_kernels::storage(), {}, "cuda sm_90");
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(tune::compile(context, scale, macros));
  });
}

}  // namespace check_compiles_test
