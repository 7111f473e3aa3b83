// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <string>

#include "libtune/base/cxx20.hpp"

// A process that was made by fork, without exec, after libtune was used in its parent: it lacks the
// parent's threads, may have locks that nobody releases, and device contexts that do not work. It
// refuses to use libtune, and inherited objects end without touching anything.
namespace tune::detail {

/// True in a process that was made by fork, without exec, after libtune was used in its parent.
/// Tests reset it, where they fork while nothing of libtune is in use.
extern std::atomic<bool> forked;

/// Returns the value of forked. For destructors.
inline bool is_forked() noexcept { return forked.load(std::memory_order_relaxed); }

/// Makes every process that is forked from now on set forked. Called before anything is made that
/// would not survive in them.
void watch_forks() noexcept;

/// @throws forked_process_error
[[noreturn]] void throw_forked(const std::string& what);

/// Functions by which an application begins to use libtune call this first.
/// @param text  makes the description of the request, as in "compile 'fill.kernel' for device 'GPU
/// One'"
/// @throws forked_process_error if this is a forked process
template <class Text>
void refuse_if_forked(const Text& text) {
  watch_forks();
  if (is_forked()) [[unlikely]]
    throw_forked(text());
}

}  // namespace tune::detail
