// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/compile_ticket.hpp"

#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/kernel/pool/compile_job.hpp"

namespace tune {

using detail::compile_job;

std::string_view status_name(compile_result::status status) noexcept {
  constexpr detail::word_table<compile_result::status, 6> words{
      {"built", "build failed", "crashed", "timed out", "out of memory", "unavailable"}};
  return words.word(status);
}

compile_ticket::compile_ticket(std::shared_ptr<compile_job> job)
    : job_(std::move(job)), cancelled_(std::make_shared<std::atomic<bool>>(false)) {}

bool compile_ticket::done() const {
  const std::lock_guard lock(job_->board().mutex);
  return job_->is_done();
}

const compile_result& compile_ticket::result() const {
  std::unique_lock lock(job_->board().mutex);
  job_->board().changed.wait(lock, [&] { return job_->is_done(); });
  return job_->result();
}

bool compile_ticket::wait_until(std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(job_->board().mutex);
  return job_->board().changed.wait_until(lock, deadline, [&] { return job_->is_done(); });
}

void compile_ticket::cancel() const {
  if (!detail::is_forked() && !cancelled_->exchange(true)) job_->drop_asker();
}

void compile_ticket::on_done(std::function<void()> function) const {
  {
    const std::lock_guard lock(job_->board().mutex);
    if (!job_->is_done()) return job_->add_listener(std::move(function));
  }
  function();
}

}  // namespace tune
