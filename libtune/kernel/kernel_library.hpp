// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include "libtune/kernel/kernel_source.hpp"
#include "libtune/kernel/resolved_source.hpp"

namespace tune {

/// A text that kernels may include by its name. It explains itself at its beginning.
struct library_kernel {
  std::string_view name;  ///< "libtune/work_group_reduce.kernel"
  std::string_view text;  ///< its source; in static storage
};

/// The texts that come with libtune, in the order of their names:
///
///   libtune/transpose_tile.kernel     tiles of a matrix through local memory
///   libtune/work_group_reduce.kernel  one value of each work item becomes one of each set
std::span<const library_kernel> kernel_library() noexcept;

/// Puts the texts that a kernel's text asks for by lines `#include "libtune/..."` before it, each
/// once, and takes those lines out. Conditions are not looked at: a text is there even if `#if`
/// leaves out the line that asks for it. Other includes stay as they are.
/// @throws build_error if there is no such text, with the names of those that there are
resolved_source include_kernel_library(const kernel_source& source);

}  // namespace tune
