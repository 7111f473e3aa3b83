// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/compile_job.hpp"

#include <utility>

namespace tune::detail {

void compile_job::finish(compile_result result) {
  listeners told;
  {
    const std::lock_guard lock(board_->mutex);
    if (done_) return;
    told = settle(std::move(result));
  }
  tell(told);
}

void compile_job::drop_asker() {
  listeners told;
  {
    const std::lock_guard lock(board_->mutex);
    if (--askers_ > 0 || begun_ || done_) return;
    told = settle(failed(compile_result::status::unavailable, "it was cancelled"));
  }
  tell(told);
}

compile_job::listeners compile_job::settle(compile_result result) {
  result_ = std::move(result);
  done_ = true;
  ++board_->completed;
  return std::exchange(listeners_, {});
}

void compile_job::tell(const listeners& told) const {
  board_->changed.notify_all();
  for (const auto& listener : told) listener();
}

compile_result failed(compile_result::status what, std::string text) {
  return {.what = what, .binary = {}, .text = std::move(text), .elapsed = {}};
}

}  // namespace tune::detail
