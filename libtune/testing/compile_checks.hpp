// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libtune/device/context.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/kernel/kernel_source.hpp"

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

/// What check_compiles says against a kernel's text, which is nothing if it compiles. Skips the
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
