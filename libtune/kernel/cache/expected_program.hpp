// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/defines.hpp"

namespace tune {

/// A program that is going to be compiled, of which it is known what it should be.
struct expected_program {
  std::vector<named_value> configuration{};  ///< all of them are among its macros
  std::vector<named_value> key{};            ///< none of its macros differs from one of them
  /// The digests (program_digest) that it may have; none if that is not known after all. Called
  /// once, before the program is compiled. Does not throw.
  std::function<std::vector<std::string>()> digests{};
  std::function<void()> differs{};  ///< called if it has another. Does not throw
};

/// Has the first program of such a configuration that tune::compile is asked for on this thread
/// compared with what is expected. At most 16 are waited for, the latest. A program that fits
/// several counts as right if it is right for one of them, and as unknown if it is for none.
void expect_program(expected_program expected);

/// Compares a program that is about to be compiled with those that are expected on this thread.
/// Costs nothing while none is. Does not throw.
void meet_expected_program(const defines& macros, const program_source& source) noexcept;

}  // namespace tune
