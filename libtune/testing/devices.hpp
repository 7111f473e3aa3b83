// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/kernel/kernel_source.hpp"
#include "libtune/testing/device_requirement.hpp"

namespace tune::testing {

/// The choice of the machine's devices for device tests.
enum class device_choice : std::uint8_t {
  first_per_api,  ///< the first of each API
  all,            ///< every one
  none            ///< device tests are skipped
};

/// The choice of this name ("first-per-api", "all", "none"). @throws argument_error
device_choice device_choice_from_name(std::string_view name);

/// The devices of a choice, in the same order.
std::vector<device> choose_devices(std::vector<device> devices, device_choice choice);

/// Sets the choice for test_devices; first_per_api by default. run_tests sets it from --devices.
/// Not for use while tests run.
void set_device_choice(device_choice choice) noexcept;

/// The devices of this machine for device tests: the chosen ones of candidate_devices, to which
/// LIBTUNE_DEVICE, CUDA_DEVICE or PYOPENCL_CTX apply.
/// @param requirements  of the test case; the first of each API is the first that they accept
/// @throws environment_error if the variable cannot be read, no_device_error if it names a missing
///         device; neither with the choice none
std::vector<device> test_devices(const std::vector<device_requirement>& requirements = {});

/// Calls test with each of test_devices() that the decorators of the running test case accept, as a
/// doctest subcase of its own. Skips the test case on each other one, or without any.
/// @throws as test_devices, so that the test case fails with the reason
void for_each_test_device(const std::function<void(const device&)>& test);

}  // namespace tune::testing

/// A test case that runs once for each of tune::testing::test_devices(), and is skipped without
/// any. Decorators narrow the choice: cuda_only, opencl_only, only_on.
///   LIBTUNE_DEVICE_TEST_CASE("a buffer is as large as was asked", device) {
///     CHECK(device.create_context().create_buffer(3).size_bytes() == 3);
///   }
#define LIBTUNE_DEVICE_TEST_CASE(decorators, parameter) \
  LIBTUNE_DETAIL_DEVICE_TEST_CASE(DOCTEST_ANONYMOUS(libtune_device_test_), decorators, parameter)
// NOLINTBEGIN(bugprone-macro-parentheses): names cannot be put in parentheses
#define LIBTUNE_DETAIL_DEVICE_TEST_CASE(function, decorators, parameter)             \
  static void function(const ::tune::device& parameter);                             \
  DOCTEST_TEST_CASE(decorators) { ::tune::testing::for_each_test_device(function); } \
  static void function([[maybe_unused]] const ::tune::device& parameter)
// NOLINTEND(bugprone-macro-parentheses)

namespace tune::testing {

/// Calls test with a context of each device of target (see compile_targets), as a doctest subcase
/// of its own. Templates that are constructed with it compile their kernels, and the test case
/// fails if they do not compile; nothing can be run. Skips the test case if nothing compiles for
/// target.
///   tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
///     CHECK_NOTHROW(multiply_template(context, {.wgs = 64}));
///   });
void for_each_compile_target(std::string_view target,
                             const std::function<void(const context&)>& test);

/// Returns the error of check_compiles about a kernel's text: empty if it compiles. Without a
/// compiler for target it skips the test case and returns empty.
std::optional<std::string> compile_complaint(const kernel_source& source, const defines& macros,
                                             std::string_view target);

}  // namespace tune::testing

/// Fails the running test case if a kernel's text does not compile, with the compiler's message,
/// and continues. CUDA needs NVRTC, but no GPU; without NVRTC the test case is skipped.
///   LIBTUNE_CHECK_COMPILES(source, tune::defines().add("wgs", 64), "cuda sm_90");
// NOLINTBEGIN(bugprone-macro-parentheses): {} is a fine argument, ({}) is not
#define LIBTUNE_CHECK_COMPILES(source, macros, target)                    \
  do {                                                                    \
    if (const auto libtune_complaint =                                    \
            ::tune::testing::compile_complaint(source, macros, target)) { \
      DOCTEST_INFO(*libtune_complaint);                                   \
      DOCTEST_CHECK(libtune_complaint->empty());                          \
    }                                                                     \
  } while (false)
// NOLINTEND(bugprone-macro-parentheses)
