// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune::detail {

/// While one lives, the standard error of the process is kept back. At its end it is written,
/// except for the lines in which PoCL's compiler counts its errors ("1 error generated."): they do
/// not name the program, and its log has the errors. If a compiler crashes, all is written before
/// the process ends.
///
/// For helper processes, where nothing else writes: an application's other threads, and the
/// processes that they start, would lose their output. One at a time.
class [[nodiscard]] stderr_filter {
 public:
  stderr_filter() noexcept;
  ~stderr_filter();
  stderr_filter(const stderr_filter&) = delete;
  stderr_filter& operator=(const stderr_filter&) = delete;
};

}  // namespace tune::detail
