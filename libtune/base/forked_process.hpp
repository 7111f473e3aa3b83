// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <string>

#include "libtune/base/cxx20.hpp"

// Detection of processes that were made by fork, without exec, after the parent used libtune. Such
// a process lacks the parent's threads, and may hold locks that are never released and device
// contexts that do not work. It refuses to use libtune, and the destructors of inherited objects do
// nothing.
namespace tune::detail {

/// True in a process that was made by fork, without exec, after libtune was used in its parent.
/// Tests reset it after they fork while libtune is not in use.
extern std::atomic<bool> forked;

/// Returns the value of forked. For destructors.
inline bool is_forked() noexcept { return forked.load(std::memory_order_relaxed); }

/// Makes every later fork set forked in the child. Call it before creating anything that does not
/// survive a fork.
void watch_forks() noexcept;

/// @throws forked_process_error
[[noreturn]] void throw_forked(const std::string& what);

/// Called first by the functions through which an application begins to use libtune.
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
