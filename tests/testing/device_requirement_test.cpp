// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/device_requirement.hpp"

#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"

namespace device_requirement_test {

using tune::testing::cuda_only;
using tune::testing::device_requirement;
using tune::testing::find_unmet;
using tune::testing::only_on;
using tune::testing::opencl_only;
using tune::testing::scoped_environment;

tune::device fake(const std::string& backend, std::optional<tune::compute_capability> generation) {
  return tune::testing::fake_device(
             {.backend = backend, .hardware = {.compute_capability = generation}})
      .device();
}

TEST_CASE("cuda_only accepts CUDA devices of a generation and later ones") {
  const tune::device old = fake("CUDA", {{7, 5}});
  const tune::device newer = fake("CUDA", {{8, 6}});
  CHECK(cuda_only().accepts(old));
  CHECK(cuda_only({7, 5}).accepts(old));
  CHECK_FALSE(cuda_only({8, 0}).accepts(old));
  CHECK(cuda_only({8, 0}).accepts(newer));
  CHECK_FALSE(cuda_only({8, 9}).accepts(newer));
  CHECK_FALSE(cuda_only({9, 0}).accepts(newer));
  CHECK(cuda_only().needed() == "a CUDA device");
  CHECK(cuda_only({8, 9}).needed() == "a CUDA device of compute capability 8.9 or later");
}

TEST_CASE("the API decides, whoever made the device") {
  const tune::device nvidia = fake("OpenCL", {{9, 0}});
  CHECK_FALSE(cuda_only().accepts(nvidia));
  CHECK_FALSE(cuda_only({7, 0}).accepts(nvidia));
  CHECK(opencl_only().accepts(nvidia));
  CHECK_FALSE(opencl_only().accepts(fake("CUDA", {{9, 0}})));
}

TEST_CASE("the first requirement that is not met is the reason") {
  const tune::device device = fake("CUDA", {{9, 0}});
  const auto never = [](const tune::device&) { return false; };
  CHECK(find_unmet({}, device).empty());
  CHECK(find_unmet({cuda_only(), cuda_only({9, 0})}, device).empty());
  CHECK(find_unmet({cuda_only(), only_on("a", never), only_on("b", never)}, device) == "a");
}

TEST_CASE("a requirement without a predicate is an error") {
  CHECK_THROWS_AS(only_on("nothing", {}), tune::argument_error);
}

TEST_CASE("a test case has the requirements of its decorators" * opencl_only() *
          only_on("a CPU", [](const tune::device&) { return true; })) {
  const std::vector<device_requirement> mine = tune::testing::running_requirements();
  REQUIRE(mine.size() == 2);
  CHECK(mine[0].needed() == "an OpenCL device");
  CHECK(mine[1].needed() == "a CPU");
}

TEST_CASE("a test case without decorators has none") {
  CHECK(tune::testing::running_requirements().empty());
}

bool has_opencl() { return !tune::testing::test_devices({opencl_only()}).empty(); }

LIBTUNE_DEVICE_TEST_CASE("device tests run on the devices that the environment leaves", device) {
  const scoped_environment no_cuda("CUDA_DEVICE", nullptr);
  const scoped_environment no_opencl("PYOPENCL_CTX", nullptr);
  const scoped_environment first("LIBTUNE_DEVICE", "0");
  CHECK(tune::testing::test_devices() == std::vector{tune::all_devices().at(0)});
  CHECK_FALSE(device.name().empty());
}

TEST_CASE("the variables that choose a device are never ignored") {
  for (const char* name : {"LIBTUNE_DEVICE", "CUDA_DEVICE", "PYOPENCL_CTX"}) {
    CAPTURE(name);
    const scoped_environment no_device("LIBTUNE_DEVICE", nullptr);
    const scoped_environment no_cuda("CUDA_DEVICE", nullptr);
    const scoped_environment no_opencl("PYOPENCL_CTX", nullptr);
    {
      const scoped_environment malformed(name, "first");
      CHECK_THROWS_WITH_AS(tune::testing::test_devices(), doctest::Contains(name),
                           tune::environment_error);
    }
    const scoped_environment absent(name, "99");
    CHECK_THROWS_WITH_AS(tune::testing::test_devices(), doctest::Contains(name),
                         tune::no_device_error);
  }
}

TEST_CASE("the first device of an API is the first that is accepted") {
  const auto devices = tune::testing::test_devices({opencl_only()});
  CHECK(devices.size() == (has_opencl() ? 1 : 0));
}

}  // namespace device_requirement_test
