// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/tuner_child.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/child/tuner_message.hpp"
#include "libtune/process/wire.hpp"

namespace tune::detail {
namespace {

// A wait that exceeds its limit by this time shows that this process did not run.
constexpr std::chrono::seconds pause{1};

// This variable stays in the environment of all processes that the child starts, and identifies
// them.
constexpr const char* tuner_mark_variable = "LIBTUNE_TUNER_MARK";

std::string new_mark() {
  static std::atomic<unsigned> made{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return fmt::format("{}={}-{}-{}", tuner_mark_variable, ::getpid(), now, made++);
}

std::vector<std::string> variables_for(const tuner_program& program, const std::string& mark) {
  std::vector<std::string> variables = program.variables;
  variables.push_back(std::string(tuner_variable) + '=' + std::to_string(::getpid()));
  variables.push_back(mark);
  return variables;
}

/// True if a process was started with this variable, or is a copy of one that was. Processes of
/// other users cannot be read.
bool has_variable(::pid_t id, std::string_view variable) {
  std::ifstream file(fmt::format("/proc/{}/environ", id), std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    if (std::string_view(all).substr(begin, end - begin) == variable) return true;
    begin = end + 1;
  }
  return false;
}

// A handle prevents the process number from passing to another process before the kill.
bool kill_if_marked(::pid_t id, std::string_view mark) {
  const file_descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
  if (!has_variable(id, mark)) return false;
  if (!process) return ::kill(id, SIGKILL) == 0;
  return ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) == 0;
}

bool kill_marked(std::string_view mark) {
  bool any = false;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry("/proc", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    ::pid_t id = 0;
    const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc{} || stop != name.data() + name.size() || id == ::getpid()) continue;
    any = kill_if_marked(id, mark) || any;
  }
  return any;
}

// A killed process may have started another one just before.
void kill_all_marked(std::string_view mark) {
  constexpr int most_rounds = 100;
  for (int round = 0; round < most_rounds && kill_marked(mark); ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

tuner_child::tuner_child(const tuner_program& program) : tuner_child(program, new_mark()) {}

tuner_child::tuner_child(const tuner_program& program, std::string mark)
    : mark_(std::move(mark)),
      process_({.program = program.path,
                .arguments = program.arguments,
                .variables = variables_for(program, mark_)}) {}

tuner_child::~tuner_child() {
  if (id() > 0 && !is_forked()) finish();
}

child_process::end tuner_child::finish(std::chrono::milliseconds patience) {
  child_process::end how = process_.finish(patience);
  try {
    kill_all_marked(mark_);
  } catch (const std::exception&) {  // no memory: the rest ends with its session
  }
  return how;
}

void tuner_child::shake_hands(std::chrono::milliseconds time) {
  const auto message = next(clock::now() + time);
  if (!message) {
    const bool ended = has_ended();
    const auto end = finish(std::chrono::milliseconds(ended ? 500 : 0));
    throw tuner_unavailable_error(
        ended ? fmt::format("it ended before its handshake ({})", end.text)
              : fmt::format("no handshake in {} ms; is serve_if_worker the first that its main "
                            "calls?",
                            time.count()));
  }
  const auto* received = std::get_if<handshake>(&*message);
  if (received == nullptr) throw wire_error("the first message is no handshake");
  if (received->protocol == tuner_protocol && received->library == library_version()) return;
  throw tuner_unavailable_error(
      fmt::format("it is of libtune {}, not {}", received->library, library_version()));
}

std::optional<tuner_message> tuner_child::next(clock::time_point until) {
  while (true) {
    if (auto message = reader_.next()) return message;
    if (!open_) return std::nullopt;
    until += wait(until);
    // Read before the arrived messages, because nothing arrives after its end.
    const bool runs = process_.runs();
    std::vector<std::byte> arrived;
    open_ = process_.receive(arrived) && runs;
    reader_.append(arrived);
    if (arrived.empty() && open_ && clock::now() >= until) return std::nullopt;
  }
}

/// @returns the time in which this process did not run
tuner_child::clock::duration tuner_child::wait(clock::time_point until) {
  const auto begin = clock::now();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - begin).count();
  const auto asked = std::chrono::milliseconds(std::clamp<long>(left, 0, 60'000));
  const short events = process_.has_unsent() ? POLLIN | POLLOUT : POLLIN;
  pollfd waited{.fd = process_.socket(), .events = events, .revents = 0};
  ::poll(&waited, 1, static_cast<int>(asked.count()));
  process_.flush();
  const auto excess = clock::now() - begin - asked;
  return excess > pause ? excess : clock::duration(0);
}

// The state follows the name, which may contain any characters.
bool tuner_child::is_stopped() const {
  std::ifstream file(fmt::format("/proc/{}/stat", id()));
  std::string text;
  std::getline(file, text);
  const auto end = text.rfind(')');
  if (end == std::string::npos || end + 2 >= text.size()) return false;
  return text[end + 2] == 'T' || text[end + 2] == 't';
}

std::unique_ptr<tuner_child> kept_child::take(const tuner_program& program) {
  if (child_ && !(program_ == program)) child_.reset();
  return std::move(child_);
}

void kept_child::keep(const tuner_program& program, std::unique_ptr<tuner_child> idle) {
  program_ = program;
  child_ = std::move(idle);
}

}  // namespace tune::detail

namespace tune {
namespace {

constexpr std::chrono::seconds time_to_answer{10};

/// Asks a child a single question. @throws tuner_unavailable_error
template <class Answer>
Answer ask(const tuner_program& program, const detail::tuner_message& question) {
  try {
    detail::tuner_child child(program);
    child.shake_hands(program.start_time);
    child.send(question);
    const auto until = detail::tuner_child::clock::now() + time_to_answer;
    while (auto message = child.next(until)) {
      if (const auto* line = std::get_if<detail::log_line>(&*message)) log(line->level, line->text);
      if (auto* answer = std::get_if<Answer>(&*message)) return std::move(*answer);
    }
    throw tuner_unavailable_error("it did not answer (" + child.finish().text + ")");
  } catch (const detail::wire_error& invalid) {
    throw tuner_unavailable_error(std::string("invalid message: ") + invalid.what());
  } catch (const std::system_error& failure) {
    throw tuner_unavailable_error(failure.what());
  }
}

}  // namespace

std::vector<remote_function> list_functions(const tuner_program& program) {
  auto listed = ask<detail::function_list>(program, detail::list_request{});
  std::vector<remote_function> functions;
  for (detail::listed_function& item : listed.functions) {
    functions.push_back({std::move(item.function), std::move(item.test_default)});
  }
  return functions;
}

std::string why_no_tuning(const tuner_program& program, const function_identity& function,
                          const std::vector<named_value>& values) {
  return ask<detail::check_answer>(program, detail::check_request{function, values}).reason;
}

}  // namespace tune
