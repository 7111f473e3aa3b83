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

/// Which of the machine's devices device tests run on.
enum class device_choice : std::uint8_t {
  first_per_api,  ///< the first of each API
  all,            ///< every one
  none            ///< device tests are skipped
};

/// The choice of this name ("first-per-api", "all", "none"). @throws argument_error
device_choice device_choice_from_name(std::string_view name);

/// The devices that a choice leaves; their order stays.
std::vector<device> choose_devices(std::vector<device> devices, device_choice choice);

/// Sets what test_devices returns; first_per_api to begin with. run_tests sets it from --devices.
/// Not for use while tests run.
void set_device_choice(device_choice choice) noexcept;

/// The devices of this machine that device tests run on: of those that LIBTUNE_DEVICE, CUDA_DEVICE
/// or PYOPENCL_CTX leave (candidate_devices), the chosen ones.
/// @param requirements  of the test case; a choice of the first of each API is the first that they
///                      accept
/// @throws environment_error if the variable cannot be read, no_device_error if it names a device
///         that is not there; not where the choice is none
std::vector<device> test_devices(const std::vector<device_requirement>& requirements = {});

/// Calls test with each of test_devices() that the decorators of the running test case accept, as a
/// doctest subcase of its own. Skips the test case on each other one, or if there is none.
/// @throws as test_devices, so that the test case fails and says why
void for_each_test_device(const std::function<void(const device&)>& test);

}  // namespace tune::testing

/// A test case that runs once for each of tune::testing::test_devices(), and is skipped where there
/// is none. Decorators narrow the choice: cuda_only, opencl_only, only_on.
///   LIBTUNE_DEVICE_TEST_CASE("a buffer is as large as was asked", device) {
///     CHECK(device.create_context().create_buffer(3).size_bytes() == 3);
///   }
#define LIBTUNE_DEVICE_TEST_CASE(decorators, parameter) \
  LIBTUNE_DETAIL_DEVICE_TEST_CASE(DOCTEST_ANONYMOUS(libtune_device_test_), decorators, parameter)
#define LIBTUNE_DETAIL_DEVICE_TEST_CASE(function, decorators, parameter)             \
  static void function(const ::tune::device& parameter);                             \
  DOCTEST_TEST_CASE(decorators) { ::tune::testing::for_each_test_device(function); } \
  static void function([[maybe_unused]] const ::tune::device& parameter)

namespace tune::testing {

/// Calls test with a context of each device that target means (see compile_targets), as a doctest
/// subcase of its own. Templates that are constructed with it compile their kernels, which fails
/// the test case if they do not; nothing can be run. Skips the test case where nothing compiles for
/// target.
///   tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
///     CHECK_NOTHROW(multiply_template(context, {.wgs = 64}));
///   });
void for_each_compile_target(std::string_view target,
                             const std::function<void(const context&)>& test);

/// Returns the complaint of check_compiles about a kernel's text: none if it compiles. Skips the
/// test case and is empty where nothing compiles for target.
std::optional<std::string> compile_complaint(const kernel_source& source, const defines& macros,
                                             std::string_view target);

}  // namespace tune::testing

/// Fails the running test case if a kernel's text does not compile, with the compiler's words; goes
/// on with it. No GPU is needed for CUDA, NVRTC is; without it the test case is skipped.
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
