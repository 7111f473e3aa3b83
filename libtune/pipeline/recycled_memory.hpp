// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Memory for the states of futures and the frames of coroutines: blocks that are given back serve
/// again, so that a pipeline allocates nothing once it has run a few frames. The process keeps the
/// blocks until it ends. More than 4096 bytes come from the heap. Thread-safe.
/// @throws std::bad_alloc
void* take_recycled(std::size_t bytes);

/// Gives back what take_recycled returned for so many bytes.
void give_back_recycled(void* memory, std::size_t bytes) noexcept;

}  // namespace tune::detail
