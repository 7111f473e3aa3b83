// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {

/// A kernel's text in the portable dialect of the preamble.
struct kernel_source {
  std::string name;  ///< shown in messages, such as "multiply.kernel"
  std::string text;  ///< without the preamble, which compile() adds
  /// Texts that the kernel or another header may include by name. They are a part of the program
  /// like the kernel's own text, for workers, caches and the warning of a change.
  std::vector<kernel_header> headers{};
};

/// A text that kernels may include by name. It begins with its documentation.
struct library_kernel {
  std::string_view name;                       ///< "libtune/work_group_reduce.kernel"
  std::string_view text;                       ///< its source; static storage
  std::array<std::string_view, 2> needs = {};  ///< the names of the texts that must precede it
};

/// The texts that are part of libtune, in the order of their names:
///
///   libtune/complex_magnitude.kernel  the absolute value of a complex number
///   libtune/transpose_tile.kernel     tiles of a matrix through local memory
///   libtune/work_group_rank.kernel    order statistics of the floats of a set of work items
///   libtune/work_group_reduce.kernel  one value of each work item becomes one of each set
///   libtune/work_group_select.kernel  several order statistics at once, by histograms
///   libtune/work_group_scan.kernel    prefix sums, or running combinations, over a set
std::span<const library_kernel> kernel_library() noexcept;

/// A kernel's text with the included texts of libtune, and the origin of its lines. Lines are
/// counted from 1.
struct resolved_source {
  /// The lines from first_line to the next run come from one file.
  struct run {
    std::size_t first_line = 1;  ///< counted in text
    std::size_t file = 0;        ///< an index into files
  };

  std::string text;  ///< begins with a `#line` directive, like each run
  /// Unchanged: the kernel's text, then the included ones, then its headers, which are not in text.
  std::vector<kernel_source> files;
  std::vector<run> runs;  ///< ascending
};

/// Inserts the texts that a kernel's text includes by lines `#include "libtune/..."` before it,
/// each once and after the texts that it needs, and removes these lines. Conditions are ignored: a
/// text is inserted even if `#if` excludes the line. Other includes are unchanged.
/// @throws build_error if there is no such text, with the existing names;
///         argument_error if a header's name is empty, absolute, contains ".." or is repeated
resolved_source include_kernel_library(const kernel_source& source);

/// Returns `#line 12 "a.kernel"` and a line feed: the following line is line 12 of that file.
/// Quotes and backslashes in the name are escaped; an empty name becomes `<string>`.
std::string line_directive(std::size_t line, std::string_view file_name);

}  // namespace tune
