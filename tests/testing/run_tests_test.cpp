// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/run_tests.hpp"

#include <array>
#include <cstdio>
#include <doctest/doctest.h>
#include <string>
#include <sys/wait.h>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/test_mode.hpp"

namespace run_tests_test {

using tune::detail::current_test_mode;
using tune::detail::test_mode;
using tune::testing::force_autotune;

struct outcome {
  int status = -1;
  std::string output;
};

// Runs the sample program, whose test cases are in sample_tests.cpp.
outcome run_sample(const std::string& options) {
  outcome result;
  std::FILE* pipe = ::popen((LIBTUNE_SAMPLE_TESTS " " + options + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) result.output += part.data();
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

bool contains(const outcome& result, const std::string& text) {
  return result.output.find(text) != std::string::npos;
}

int count(const outcome& result, const std::string& text) {
  int found = 0;
  for (auto at = result.output.find(text); at != std::string::npos;
       at = result.output.find(text, at + 1)) {
    ++found;
  }
  return found;
}

TEST_CASE("a program whose test cases pass ends well") {
  CHECK(run_sample("--test-case=passes").status == 0);
}

TEST_CASE("a program with a test case that fails ends with one") {
  CHECK(run_sample("--test-case=fails").status == 1);
}

TEST_CASE("a program whose test cases were all skipped says so and why") {
  const outcome result = run_sample("--test-case=skips");
  INFO(result.output);
  CHECK(result.status == tune::testing::skipped_exit_status);
  CHECK(contains(result, "skipped: skips: it is only a sample"));
}

TEST_CASE("a test case that asserted something was not skipped") {
  const outcome result = run_sample("--test-case='skips after an assertion'");
  CHECK(result.status == 0);
  CHECK(contains(result, "skipped: skips after an assertion: enough was seen"));
}

TEST_CASE("skipped test cases hide neither passes nor failures") {
  CHECK(run_sample("--test-case=skips,passes").status == 0);
  CHECK(run_sample("--test-case=skips,fails").status == 1);
}

TEST_CASE("a filter that leaves no test case does not skip") {
  CHECK(run_sample("--test-case=nothing").status == 0);
}

TEST_CASE("a device test is skipped without devices") {
  const outcome result = run_sample("--devices=none --test-case='needs a device'");
  INFO(result.output);
  CHECK(result.status == tune::testing::skipped_exit_status);
  CHECK(contains(result, "skipped: needs a device: --devices=none"));
}

LIBTUNE_DEVICE_TEST_CASE("a device test that no device meets is skipped with the reason", device) {
  const outcome result = run_sample("--test-case='needs a quantum device,needs a CUDA * future'");
  INFO(result.output);
  CHECK(result.status == tune::testing::skipped_exit_status);
  CHECK(contains(result, "skipped: needs a quantum device: not on " + device.info().backend +
                             " device " + device.name() +
                             ", because the test case needs a quantum device"));
  CHECK(contains(result, "needs a CUDA device of compute capability 999.0 or later"));
}

LIBTUNE_DEVICE_TEST_CASE("a device test runs on the devices that it accepts", device) {
  const outcome result = run_sample("--test-case='needs OpenCL'");
  INFO(result.output);
  const bool found = !tune::testing::test_devices({tune::testing::opencl_only()}).empty();
  CHECK(result.status == (found ? 0 : tune::testing::skipped_exit_status));
  const bool is_refused = device.info().backend != "OpenCL";
  CHECK(contains(result, "not on " + device.info().backend) == is_refused);
}

TEST_CASE("a variable that names no device fails the device tests, and no others") {
  const tune::testing::scoped_environment absent("LIBTUNE_DEVICE", "one");
  const outcome result = run_sample("--test-case='needs a device'");
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK(contains(result, "LIBTUNE_DEVICE is 'one'"));
  CHECK(run_sample("--test-case=passes").status == 0);
  CHECK(run_sample("--devices=none --test-case='needs a device'").status ==
        tune::testing::skipped_exit_status);
}

LIBTUNE_DEVICE_TEST_CASE("what a device test throws is reported once for each device", device) {
  const int devices = static_cast<int>(tune::testing::test_devices().size());
  const outcome result = run_sample("--test-case='throws on a device'");
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK(count(result, "THREW exception") == devices);
  CHECK(count(result, "it was thrown") == devices);
  CHECK_FALSE(contains(result, "will translate later"));
  CHECK(contains(result, ": " + device.name()));
  CHECK(contains(result, "the device is called " + device.name()));
  const outcome required = run_sample("--test-case='requires on a device'");
  INFO(required.output);
  CHECK(required.status == 1);
  CHECK(count(required, "FATAL ERROR") == devices);
  CHECK_FALSE(contains(required, "THREW exception"));
}

TEST_CASE("a choice of devices that is none of the three is refused") {
  const outcome result = run_sample("--devices=many");
  INFO(result.output);
  CHECK(result.status == 2);
  CHECK(contains(result, "expected first-per-api, all or none"));
}

TEST_CASE("help shows doctest's options and ours") {
  const outcome result = run_sample("--help");
  CHECK(result.status == 0);
  CHECK(contains(result, "--devices="));
  CHECK(contains(result, "--test-case="));
}

// doctest runs the test cases of a file in the order of their lines, so these also show that the
// mode is put back.
TEST_CASE("autotuners return their defaults in a plain test") {
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("the decorator forces autotuners to tune" * force_autotune()) {
  CHECK(current_test_mode() == test_mode::forced);
  SUBCASE("in a subcase") { CHECK(current_test_mode() == test_mode::forced); }
  SUBCASE("and in the next") { CHECK(current_test_mode() == test_mode::forced); }
}

TEST_CASE("autotuners return their defaults in the test after a forced one") {
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("other decorators stand beside it" * doctest::description("x") * force_autotune() *
          doctest::timeout(60)) {
  CHECK(current_test_mode() == test_mode::forced);
}

TEST_CASE_TEMPLATE("templates are forced too" * force_autotune(), T, int, float) {
  CHECK(current_test_mode() == test_mode::forced);
  CHECK(sizeof(T) == 4);
}

LIBTUNE_DEVICE_TEST_CASE("device tests are forced too" * force_autotune(), device) {
  CHECK(current_test_mode() == test_mode::forced);
}

}  // namespace run_tests_test
