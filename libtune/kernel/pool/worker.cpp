// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include "libtune/base/library_version.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/kernel/pool/worker_program.hpp"

namespace tune::detail {
namespace {

using status = compile_result::status;

constexpr std::chrono::seconds time_to_leave(2);
// Its end of the socket closes shortly before the process has ended.
constexpr std::chrono::milliseconds time_to_end(500);

std::string seconds(std::chrono::nanoseconds time) {
  return rounded_text(std::chrono::duration<double>(time).count()) + " s";
}

child_command command_for(const std::string& program, const std::vector<std::string>& arguments) {
  const std::string parent = std::to_string(::getpid());
  if (arguments.empty()) return {.program = program, .arguments = {program, "--serve", parent}};
  return {.program = program,
          .arguments = arguments,
          .variables = {std::string(worker_variable) + '=' + parent}};
}

}  // namespace

worker::worker(const compile_pool_options& options, std::optional<compile_target> prepare)
    : options_(options),
      prepare_(std::move(prepare)),
      process_(command_for(options.program, options.arguments)) {
  enter(state::starting, options.start_time);
}

void worker::enter(state next, std::chrono::nanoseconds time) {
  // The limit prevents a sum that overflows.
  constexpr std::chrono::hours longest(24 * 365);
  state_ = next;
  deadline_ = clock::now() + std::min<std::chrono::nanoseconds>(time, longest);
}

void worker::give(worker_task task) {
  task_ = std::move(task);
  enter(state::busy, task_->time_limit);
  try {
    send(task_->order);
  } catch (const wire_error& failure) {
    task_->job->finish(failed(status::unavailable, failure.what()));
    task_.reset();
    enter(state::idle, options_.idle_time);
  }
}

void worker::listen() {
  if (state_ == state::ended) return;
  std::vector<std::byte> arrived;
  const bool open = process_.receive(arrived);
  reader_.append(arrived);
  try {
    while (state_ != state::ended) {
      auto message = reader_.next();
      if (!message) break;
      handle(*std::move(message));
    }
  } catch (const wire_error& failure) {
    return lose(status::crashed,
                fmt::format("the compiler's process talks nonsense: {}", failure.what()));
  }
  if (!open && state_ != state::ended) lose_by_itself();
}

void worker::handle(worker_message message) {
  if (const auto* greeting = std::get_if<worker_greeting>(&message)) return greet(*greeting);
  auto* said = std::get_if<compile_report>(&message);
  if (said == nullptr) throw wire_error("a worker gives orders");
  report(std::move(*said));
}

void worker::greet(const worker_greeting& greeting) {
  if (worked_ || state_ != state::starting) throw wire_error("a worker greets twice");
  if (greeting.protocol != worker_protocol || greeting.library != library_version()) {
    another_version_ = true;
    return lose(status::unavailable,
                fmt::format("it is of libtune {}, not {}", greeting.library, library_version()));
  }
  if (prepare_) {
    send(prepare_order{*std::move(prepare_)});
    prepare_.reset();
    return;
  }
  worked_ = true;
  enter(state::idle, options_.idle_time);
}

void worker::report(compile_report report) {
  if (report.id == 0 && state_ == state::starting) {
    worked_ = true;
    return enter(state::idle, options_.idle_time);
  }
  if (!task_ || task_->order.id != report.id) throw wire_error("a report belongs to no order");
  const worker_task task = *std::exchange(task_, std::nullopt);
  if (state_ == state::busy) enter(state::idle, options_.idle_time);
  task.job->finish(std::move(report.result));
}

void worker::supervise() {
  if (state_ == state::busy) {
    const std::uint64_t bytes = process_.resident_bytes();
    if (bytes > options_.memory_bytes) {
      return lose(
          status::out_of_memory,
          fmt::format("the compiler was stopped when it had {} MiB of memory", bytes >> 20));
    }
  }
  if (clock::now() < deadline_) return;
  switch (state_) {
    case state::starting:
      return lose(status::unavailable,
                  "it did not report for work in " + seconds(options_.start_time));
    case state::busy:
      return lose(status::timed_out,
                  "the compiler was stopped after " + seconds(task_->time_limit));
    case state::idle: process_.dismiss(); return enter(state::leaving, time_to_leave);
    case state::leaving: return lose(status::unavailable, "it did not end by itself");
    case state::ended: return;
  }
}

void worker::lose(status what, const std::string& reason) {
  process_.finish();
  state_ = state::ended;
  end_reason_ = reason;
  if (task_) std::exchange(task_, std::nullopt)->job->finish(failed(what, reason));
}

// If a process was killed by others than this object, it was by the system, for lack of memory.
void worker::lose_by_itself() {
  const child_process::end end = process_.finish(time_to_end);
  state_ = state::ended;
  end_reason_ = end.text;
  if (!task_) return;
  const worker_task task = *std::exchange(task_, std::nullopt);
  task.job->finish(
      end.by_kill ? failed(status::out_of_memory,
                           "the compiler was killed by the system, as it is when "
                           "memory runs out")
                  : failed(status::crashed, fmt::format("the compiler crashed ({})", end.text)));
}

}  // namespace tune::detail
