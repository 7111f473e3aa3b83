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
  std::string text;  ///< without the preamble, which compile() puts before it
  /// Texts that it, or one of them, may include by their names: a part of the program as its own
  /// text is, for workers, caches and the warning of a change.
  std::vector<kernel_header> headers{};
};

/// A text that kernels may include by its name. It explains itself at its beginning.
struct library_kernel {
  std::string_view name;                       ///< "libtune/work_group_reduce.kernel"
  std::string_view text;                       ///< its source; in static storage
  std::array<std::string_view, 2> needs = {};  ///< the names of the texts that go before it
};

/// The texts that come with libtune, in the order of their names:
///
///   libtune/complex_magnitude.kernel  the absolute value of a complex number
///   libtune/transpose_tile.kernel     tiles of a matrix through local memory
///   libtune/work_group_rank.kernel    order statistics of the floats of a set of work items
///   libtune/work_group_reduce.kernel  one value of each work item becomes one of each set
///   libtune/work_group_select.kernel  several order statistics at once, by histograms
///   libtune/work_group_scan.kernel    prefix sums, or running combinations, over a set
std::span<const library_kernel> kernel_library() noexcept;

/// A kernel's text with the texts from libtune that it includes, and the origin of its lines.
/// Lines are counted from 1.
struct resolved_source {
  /// The lines from first_line on, up to the next run, are those of one of the files.
  struct run {
    std::size_t first_line = 1;  ///< counted in text
    std::size_t file = 0;        ///< an index into files
  };

  std::string text;  ///< begins with a `#line` directive, as each run has one before it
  /// As they were given: the kernel's, then those that it includes, then its headers, which are not
  /// in text.
  std::vector<kernel_source> files;
  std::vector<run> runs;  ///< ascending
};

/// Puts the texts that a kernel's text asks for by lines `#include "libtune/..."` before it, each
/// once and after the texts that it needs, and takes those lines out. Conditions are not looked at:
/// a text is there even if `#if` leaves out the line that asks for it. Other includes stay as they
/// are.
/// @throws build_error if there is no such text, with the names of those that there are
///         argument_error if a header's name is empty, absolute, has ".." in it or occurs twice
resolved_source include_kernel_library(const kernel_source& source);

/// `#line 12 "a.kernel"` and a line feed: the line that follows is that one of that file. Quotes
/// and backslashes of the name are escaped; an empty name becomes `<string>`.
std::string line_directive(std::size_t line, std::string_view file_name);

}  // namespace tune
