// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/compile_future.hpp"

#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/word_table.hpp"

namespace tune {

std::string_view status_name(compile_result::status status) noexcept {
  constexpr detail::word_table<compile_result::status, 6> words{
      {"built", "build failed", "crashed", "timed out", "out of memory", "unavailable"}};
  return words.word(status);
}

namespace detail {

compile_result failed(compile_result::status what, std::string text) {
  return {.what = what, .binary = {}, .text = std::move(text), .elapsed = {}};
}

void compile_job::finish(compile_result result) {
  listeners settled;
  {
    const std::lock_guard lock(board_->mutex);
    if (done_) return;
    settled = settle(std::move(result));
  }
  call(settled);
}

void compile_job::drop_request() {
  listeners settled;
  {
    const std::lock_guard lock(board_->mutex);
    if (--requests_ > 0 || begun_ || done_) return;
    settled = settle(failed(compile_result::status::unavailable, "it was cancelled"));
  }
  call(settled);
}

compile_job::listeners compile_job::settle(compile_result result) {
  result_ = std::move(result);
  done_ = true;
  ++board_->completed;
  return std::exchange(listeners_, {});
}

void compile_job::call(const listeners& settled) const {
  board_->changed.notify_all();
  for (const auto& listener : settled) listener();
}

}  // namespace detail

compile_future::compile_future(std::shared_ptr<detail::compile_job> job)
    : job_(std::move(job)), cancelled_(std::make_shared<std::atomic<bool>>(false)) {}

bool compile_future::done() const {
  const std::lock_guard lock(job_->board().mutex);
  return job_->is_done();
}

const compile_result& compile_future::result() const {
  std::unique_lock lock(job_->board().mutex);
  job_->board().changed.wait(lock, [&] { return job_->is_done(); });
  return job_->result();
}

bool compile_future::wait_until(std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(job_->board().mutex);
  return job_->board().changed.wait_until(lock, deadline, [&] { return job_->is_done(); });
}

void compile_future::cancel() const {
  if (!detail::is_forked() && !cancelled_->exchange(true)) job_->drop_request();
}

void compile_future::on_done(std::function<void()> function) const {
  {
    const std::lock_guard lock(job_->board().mutex);
    if (!job_->is_done()) return job_->add_listener(std::move(function));
  }
  function();
}

}  // namespace tune
