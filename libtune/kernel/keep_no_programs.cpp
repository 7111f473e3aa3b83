// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/keep_no_programs.hpp"

namespace tune {
namespace {

thread_local int active = 0;

}  // namespace

keep_no_programs::keep_no_programs() noexcept { ++active; }

keep_no_programs::~keep_no_programs() { --active; }

bool keep_no_programs::is_active() noexcept { return active > 0; }

}  // namespace tune
