// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune::worker {

/// While one lives, what the process writes to standard error is kept back. At its end it is
/// written, but for the lines in which PoCL's compiler counts its errors ("1 error generated."):
/// they do not say of which program, and what they count is in the program's log. If a compiler
/// crashes, all is written before the process ends.
///
/// For helper processes, where nothing else writes: an application's other threads, and what they
/// start, would lose theirs. One at a time.
class [[nodiscard]] compiler_chatter {
 public:
  compiler_chatter() noexcept;
  ~compiler_chatter();
  compiler_chatter(const compiler_chatter&) = delete;
  compiler_chatter& operator=(const compiler_chatter&) = delete;
};

}  // namespace tune::worker
