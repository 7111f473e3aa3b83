// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The parent's side of replays.
#include "libtune/extra/capture/replay_child.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/extra/capture/replay_message.hpp"
#include "libtune/process/child_process.hpp"

namespace tune {
namespace {

using clock = std::chrono::steady_clock;
using detail::child_process;
using detail::replay_message;
using kind = detail::replay_message::kind;

child_process start(const tuner_program& program) {
  detail::child_command command{.program = program.path, .arguments = program.arguments};
  if (command.program.empty()) command.program = "/proc/self/exe";
  if (command.arguments.empty()) command.arguments = {command.program};
  command.variables = program.variables;
  command.variables.push_back(fmt::format("{}={}", detail::replay_variable, ::getpid()));
  return child_process(command);
}

/// The runs that are left, and the child that runs them.
class child_replay {
 public:
  child_replay(const capture_reader& from, const std::vector<captured_place>& places,
               const replay_options& options)
      : from_(from), left_(places), options_(options) {}

  std::vector<replayed_call> run();

 private:
  /// Runs what is left until the child ends. Returns false if the caller has stopped it.
  bool run_child();
  bool wait(child_process& child, clock::time_point until);
  void take(child_process& child, const replay_message& message);
  void take_lines(child_process& child);
  void end(child_process& child, bool is_late);
  void add(replayed_call call);
  bool is_stopped() const { return options_.stop && options_.stop(); }

  const capture_reader& from_;
  std::vector<captured_place> left_;
  const replay_options& options_;
  std::vector<replayed_call> done_;

  // The state of the present child.
  std::vector<std::byte> arrived_;
  std::vector<captured_place> asked_;
  bool is_ready_ = false;
  std::optional<std::size_t> begun_;
  std::string error_;
  clock::time_point since_;
};

std::vector<replayed_call> child_replay::run() {
  while (!left_.empty() && run_child()) {
  }
  return std::move(done_);
}

// Returns false at the time.
bool child_replay::wait(child_process& child, clock::time_point until) {
  constexpr std::chrono::milliseconds look{50};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
  if (left.count() < 0) return false;
  pollfd waited{.fd = child.socket(), .events = POLLIN, .revents = 0};
  ::poll(&waited, 1, static_cast<int>(std::min(left, look).count()));
  return true;
}

bool child_replay::run_child() {
  child_process child = start(options_.program);
  arrived_.clear();
  asked_ = left_;
  is_ready_ = false;
  begun_.reset();
  error_.clear();
  since_ = clock::now();
  bool is_open = true;
  bool is_late = false;
  while (is_open && !left_.empty() && error_.empty() && !is_late && !is_stopped()) {
    const auto longest =
        is_ready_ ? std::chrono::milliseconds(options_.call_time) : options_.program.start_time;
    is_late = !wait(child, since_ + longest);
    if (child.has_unsent()) child.flush();
    is_open = child.receive(arrived_);
    take_lines(child);
  }
  if (left_.empty() || is_stopped()) return false;
  end(child, is_late);
  return true;
}

void child_replay::take_lines(child_process& child) {
  while (true) {
    const auto end = std::ranges::find(arrived_, std::byte{'\n'});
    if (end == arrived_.end()) return;
    const std::string line(reinterpret_cast<const char*>(arrived_.data()),
                           static_cast<std::size_t>(end - arrived_.begin()));
    arrived_.erase(arrived_.begin(), end + 1);
    take(child, detail::message_from_line(line));
  }
}

void child_replay::take(child_process& child, const replay_message& message) {
  since_ = clock::now();
  switch (message.what) {
    case kind::ready: {
      is_ready_ = true;
      const std::string path = std::filesystem::absolute(from_.path()).string();
      const std::string line = to_line(detail::replay_request{path, asked_});
      child.send(std::as_bytes(std::span(line)));
      break;
    }
    case kind::begun: begun_ = message.index; break;
    case kind::ended:
      begun_.reset();
      add(*message.call);
      break;
    case kind::error: error_ = message.text; break;
  }
}

void child_replay::add(replayed_call call) {
  left_.erase(left_.begin());
  done_.push_back(std::move(call));
  if (options_.done) options_.done(done_.back());
}

void child_replay::end(child_process& child, bool is_late) {
  const child_process::end end = child.finish(std::chrono::milliseconds(is_late ? 0 : 1000));
  const std::string program =
      options_.program.path.empty() ? std::string("this program") : options_.program.path;
  if (!is_ready_) {
    throw error(fmt::format(
        "'{}' does not run captured frames again ({}): its main has to begin with "
        "tune::serve_if_worker, and it has to link libtune::capture and to make a tune::capture",
        program,
        is_late ? fmt::format("no answer within {} ms", options_.program.start_time.count())
                : end.text));
  }
  if (!begun_) {
    throw error(fmt::format("'{}' could not run the frames of '{}' again: {}", program,
                            from_.path().string(), error_.empty() ? end.text : error_));
  }
  const auto& [frame, call] = left_.front();
  const captured_call& of = from_.frames().at(frame).calls.at(call);
  std::string text = is_late ? fmt::format("it took longer than {} s", options_.call_time.count())
                             : "its process ended: " + end.text;
  if (!error_.empty()) text = error_;
  add({.frame = from_.frames().at(frame).number,
       .name = of.name,
       .type = of.form.type,
       .outcome = replay_outcome::failed,
       .text = std::move(text)});
}

}  // namespace

std::vector<replayed_call> replay_in_child(const capture_reader& from,
                                           const std::vector<captured_place>& places,
                                           const replay_options& options) {
  detail::offer_replays();
  return child_replay(from, places, options).run();
}

std::vector<captured_place> all_places(const capture_reader& from) {
  std::vector<captured_place> places;
  for (std::size_t frame = 0; frame < from.frames().size(); ++frame) {
    for (std::size_t call = 0; call < from.frames()[frame].calls.size(); ++call) {
      places.emplace_back(frame, call);
    }
  }
  return places;
}

}  // namespace tune
