// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/test_mode.hpp"

#include <atomic>

namespace tune::detail {
namespace {

std::atomic<test_mode> mode{test_mode::off};

}  // namespace

test_mode current_test_mode() noexcept { return mode.load(std::memory_order_relaxed); }

void set_test_mode(test_mode wanted) noexcept { mode.store(wanted, std::memory_order_relaxed); }

}  // namespace tune::detail
