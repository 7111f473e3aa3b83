// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/kernel/kernel_source.hpp"

namespace tune {

/// A kernel's text with the texts from libtune that it includes, and where its lines come from.
/// Lines are counted from 1.
struct resolved_source {
  /// The lines from first_line on, up to the next run, are those of one of the files.
  struct run {
    std::size_t first_line = 1;  ///< counted in text
    std::size_t file = 0;        ///< an index into files
  };

  std::string text;  ///< begins with a `#line` directive, as each run has one before it
  std::vector<kernel_source> files;  ///< as they were given: the kernel's, then those it includes
  std::vector<run> runs;             ///< ascending
};

/// `#line 12 "a.kernel"` and a line feed: the line that follows is that one of that file. Quotes
/// and backslashes of the name are escaped; an empty name becomes `<string>`.
std::string line_directive(std::size_t line, std::string_view file_name);

}  // namespace tune
