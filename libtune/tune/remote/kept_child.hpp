// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <sys/types.h>

#include "libtune/tune/remote/serve_if_worker.hpp"
#include "libtune/tune/remote/tuner_child.hpp"

namespace tune::detail {

/// A child process that serves one search after the other, because to start one and to open the
/// device again takes as long as a short search, and may delay an application at work. Used by one
/// thread.
class kept_child {
 public:
  /// Returns the child of this program, which a search then has; null if there is none.
  std::unique_ptr<tuner_child> take(const tuner_program& program);
  /// Keeps a child that waits for its next request.
  void keep(const tuner_program& program, std::unique_ptr<tuner_child> idle);
  /// Ends the child, where no search has it.
  void end() noexcept { child_.reset(); }
  /// The process that is kept; -1: there is none.
  ::pid_t id() const noexcept { return child_ ? child_->id() : -1; }

 private:
  tuner_program program_;
  std::unique_ptr<tuner_child> child_;
};

}  // namespace tune::detail
