// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_use.hpp"

namespace tune::detail {
namespace {

thread_local int uses = 0;

}  // namespace

database_use::database_use() noexcept { ++uses; }

database_use::~database_use() { --uses; }

bool database_use::is_active() noexcept { return uses > 0; }

}  // namespace tune::detail
