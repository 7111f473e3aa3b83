// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <string>

#include "libtune/base/cxx20.hpp"

// A process that was made by fork, without exec, after libtune was used in its parent: it lacks the
// parent's threads, may have locks that nobody releases, and device contexts that do not work. It
// refuses to use libtune, and what it has inherited ends without touching anything.
namespace tune::detail {

extern std::atomic<bool> forked;

/// Whether this process is one. For destructors and the like.
inline bool is_forked() noexcept { return forked.load(std::memory_order_relaxed); }

/// Children made from now on are such processes. Called by what has something to lose in them.
void watch_forks() noexcept;

/// @throws forked_process_error
[[noreturn]] void throw_forked(const std::string& what);

/// What an application calls first to use libtune calls this before it does anything.
/// @param text  makes what is asked, as in "compile 'fill.kernel' for device 'GPU One'"
/// @throws forked_process_error if this is a forked process
template <class Text>
void refuse_if_forked(const Text& text) {
  watch_forks();
  if (is_forked()) [[unlikely]]
    throw_forked(text());
}

/// For tests, which fork while nothing of libtune is in use, to have a second process: this one may
/// use it.
void accept_fork() noexcept;

}  // namespace tune::detail
