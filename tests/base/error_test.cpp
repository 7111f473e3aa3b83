// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/error.hpp"

#include <doctest/doctest.h>
#include <string>

namespace error_test {

TEST_CASE("a device error names the call, the device and the reason") {
  const tune::device_error failure("clEnqueueNDRangeKernel", "Some GPU", "CL_OUT_OF_RESOURCES",
                                   tune::device_failure::over_limit);
  const std::string text = failure.what();
  CHECK(text == "clEnqueueNDRangeKernel failed on device 'Some GPU': CL_OUT_OF_RESOURCES");
  CHECK(failure.device() == "Some GPU");
  CHECK(failure.failure() == tune::device_failure::over_limit);
}

TEST_CASE("an environment error names the variable, what it holds and what it may hold") {
  const tune::environment_error failure("LIBTUNE_MODE", "fast", "one of tune, cached");
  CHECK(failure.variable() == "LIBTUNE_MODE");
  CHECK(std::string(failure.what()) ==
        "environment variable LIBTUNE_MODE is 'fast', expected one of tune, cached; correct it or "
        "unset it");
}

TEST_CASE("a build error keeps the compiler's log apart") {
  const tune::build_error failure("kernel does not compile:\n1: bad", "1: bad");
  CHECK(failure.log() == "1: bad");
}

}  // namespace error_test
