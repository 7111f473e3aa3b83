// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/order_compiler.hpp"

#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/devices.hpp"

namespace order_compiler_test {

using tune::detail::compile_order;
using tune::detail::compile_target;

compile_target target_of(const tune::context& context) {
  const tune::device device = context.device();
  return {.backend = device.info().backend,
          .platform = device.platform_name(),
          .device = device.name(),
          .driver_version = device.driver_version(),
          .compiler_identity = context.compiler_identity(),
          .compute_capability =
              device.info().hardware.compute_capability.value_or(tune::compute_capability{})};
}

tune::program_source kernel_for(const tune::context& context, const std::string& name) {
  const bool cuda = context.device().info().language == tune::kernel_language::cuda_cpp;
  return {.name = name,
          .text = cuda ? "extern \"C\" __global__ void nothing() {}" : "__kernel void nothing() {}",
          .options = {}};
}

LIBTUNE_DEVICE_TEST_CASE("what is compiled for another process loads there", device) {
  const tune::context context = device.create_context();
  const auto trade = tune::worker::order_compiler();
  trade.prepare(target_of(context));
  const auto result = trade.compile(
      {.id = 1, .target = target_of(context), .source = kernel_for(context, "nothing.kernel")});
  REQUIRE(result.what == tune::compile_result::status::built);
  const auto program = context.create_program_from_binary("nothing.kernel", result.binary);
  CHECK_NOTHROW(program.create_kernel("nothing"));
}

LIBTUNE_DEVICE_TEST_CASE("a log is as it is without a worker", device) {
  const tune::context context = device.create_context();
  const tune::program_source wrong{
      .name = "wrong.kernel", .text = "#line 1 \"wrong.kernel\"\nthis is no kernel", .options = {}};
  std::string log;
  std::string log_here;
  try {
    context.create_program(wrong);
  } catch (const tune::build_error& failure) {
    log_here = failure.log();
  }
  try {
    tune::worker::order_compiler().compile(
        {.id = 1, .target = target_of(context), .source = wrong});
  } catch (const tune::build_error& failure) {
    log = failure.log();
  }
  CHECK_FALSE(log.empty());
  CHECK(log == log_here);
}

LIBTUNE_DEVICE_TEST_CASE("nothing is compiled by another compiler than was asked for", device) {
  const tune::context context = device.create_context();
  compile_order order{
      .id = 1, .target = target_of(context), .source = kernel_for(context, "nothing.kernel")};
  order.target.compiler_identity += " of old";
  CHECK_THROWS_WITH_AS(tune::worker::order_compiler().compile(order), doctest::Contains("of old"),
                       tune::error);
}

TEST_CASE("no worker compiles for what it does not know") {
  compile_order order;
  order.target.backend = "fake";
  CHECK_THROWS_AS(tune::worker::order_compiler().compile(order), tune::error);
  order.target.backend = "OpenCL";
  order.target.platform = "no such platform";
  CHECK_THROWS_AS(tune::worker::order_compiler().compile(order), tune::error);
}

}  // namespace order_compiler_test
