// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

namespace tune {

class binary_cache;

/// The cache of compiled programs that LIBTUNE_CACHE asks for now: in the folder that it names, by
/// default in programs in the user's cache folder. Null if it says off, or if it is unset and the
/// user has no cache folder. Kept between calls while the folder stays the same. Thread-safe.
std::shared_ptr<const binary_cache> program_cache();

}  // namespace tune
