// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "libtune/base/cxx20.hpp"

namespace tune {

class binary_cache;
class recent_binaries;

/// The cache of compiled programs that LIBTUNE_CACHE asks for now: in the folder that it names, by
/// default in programs in the user's cache folder. Null if it says off, or if it is unset and the
/// user has no cache folder. Kept between calls while the folder stays the same. Thread-safe.
std::shared_ptr<const binary_cache> program_cache();

/// What this process has had from that cache lately; empty anew when the folder changes. Null where
/// there is no cache. Thread-safe.
std::shared_ptr<recent_binaries> recent_programs();

}  // namespace tune
