// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/child/gate_of_parent.hpp"
#include "libtune/child/tuner_message.hpp"
#include "libtune/child/tuning_failure.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/process/child_process.hpp"
#include "libtune/process/process_state.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::detail {
namespace {

// Any other error means that the other end has gone.
bool is_lost(int failure) { return failure == EBADF || failure == ENOTSOCK || failure == ENOTCONN; }

/// The child's end of the socket. When the parent has gone, it ends this process at once: there is
/// no work left, and a hanging driver would prevent any other end. It does the same, with
/// lost_link_status, when the socket has been closed or replaced in this process. A forked copy of
/// the process ends when it would send. Any thread may send; one receives.
class tuner_link {
 public:
  /// @param socket  owned by the caller
  explicit tuner_link(int socket) noexcept : socket_(socket) { watch_forks(); }

  void send(const tuner_message& message) noexcept;
  /// Returns the next message. An invalid one ends this process, too.
  tuner_message receive() noexcept;
  /// Receives an answer of one type.
  template <class Answer>
  Answer receive_answer() noexcept {
    tuner_message message = receive();
    auto* answer = std::get_if<Answer>(&message);
    if (answer == nullptr) leave();
    return std::move(*answer);
  }

 private:
  [[noreturn]] static void leave(int status = 0) noexcept;
  void leave_if_copy() const noexcept;

  int socket_;
  std::mutex sending_;
  tuner_message_reader reader_;
};

// The threads of drivers, and destructors that wait for them, are skipped.
void tuner_link::leave(int status) noexcept {
  std::fflush(nullptr);
  ::_exit(status);
}

// Only the original writes its buffers and sends to the parent.
void tuner_link::leave_if_copy() const noexcept {
  if (is_forked()) ::_exit(0);
}

void tuner_link::send(const tuner_message& message) noexcept {
  leave_if_copy();
  int status = 0;
  try {
    const std::vector<std::byte> bytes = encode(message);
    const std::lock_guard lock(sending_);
    if (send_all(socket_, bytes)) return;
    if (is_lost(errno)) status = lost_link_status;
  } catch (const std::exception&) {  // the parent would wait for ever
  }
  leave(status);
}

tuner_message tuner_link::receive() noexcept {
  leave_if_copy();
  int status = 0;
  try {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): it is filled
    std::array<std::byte, std::size_t{1} << 16> part;
    while (true) {
      if (auto message = reader_.next()) return *std::move(message);
      const ::ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && is_lost(errno)) status = lost_link_status;
      if (count <= 0) break;
      reader_.append(std::span(part).first(static_cast<std::size_t>(count)));
    }
  } catch (const wire_error&) {  // the configuration has written to the socket
    status = lost_link_status;
  } catch (const std::exception&) {
  }
  leave(status);
}

/// Passes the events of the search to the parent, and waits until its observers have received them.
class remote_observer final : public observer {
 public:
  explicit remote_observer(tuner_link& link) noexcept : link_(link) {}

  void on(const tuning_event& event) override {
    if (std::holds_alternative<waiting_event>(event) || std::holds_alternative<lookup_event>(event))
      return;
    tuning_event sent = event;
    if (auto* made = std::get_if<trial_event>(&sent)) {
      made->trial.reason = cut(std::move(made->trial.reason));
    }
    if (auto* ended = std::get_if<search_finished_event>(&sent)) {
      *ended = winner_alone(std::move(*ended));
    }
    link_.send(std::move(sent));
    static_cast<void>(link_.receive_answer<acknowledgement>());
  }

 private:
  tuner_link& link_;
};

/// Passes the step events to the parent's watchdog.
class remote_watchdog {
 public:
  explicit remote_watchdog(tuner_link& link) noexcept : link_(link) {}

  void operator()(const step_event& event) {
    if (const auto* begun = std::get_if<step_begin>(&event)) {
      // Between two steps no code of the author runs, except before a configuration.
      const bool is_fresh = begun->step.kind == step_kind::generate || !last_;
      before_.push_back(is_fresh ? process_state() : *last_);
    }
    if (!std::holds_alternative<step_end>(event)) return link_.send(event);
    last_ = process_state();
    const auto spoilt = last_->change_since(before_.back());
    before_.pop_back();
    if (!spoilt) return link_.send(event);
    link_.send(process_spoilt{*spoilt});
    static_cast<void>(link_.receive());  // until the parent ends this process
  }

 private:
  tuner_link& link_;
  std::vector<process_state> before_;  // the nested steps under way
  std::optional<process_state> last_;  // the state at the end of the last step
};

/// Nested calls of autotuners tune in this process: a child has no children that tune.
class this_process final : public executor {
 private:
  tuned_values do_tune(const tuning_task& task) override { return tune_here(task); }
};

/// The function and device of a request, found in this process.
struct found_request {
  std::shared_ptr<const autotuner_core> function;
  tune::context context;
};

std::shared_ptr<const autotuner_core> find_function(function_identity wanted,
                                                    const std::vector<named_value>& key) {
  wanted.name = split_name(wanted.name).first;
  auto found = autotuner_registry::instance().find(wanted.name, wanted.version, key);
  if (found == nullptr) {
    throw argument_error(fmt::format(
        "the autotune function '{}' is not there when main begins; make it a static object outside "
        "of any function",
        wanted.name));
  }
  if (found->identity() != wanted) {
    throw argument_error(
        fmt::format("the autotune function '{}' has other fields in a new process", wanted.name));
  }
  return found;
}

// Contexts are kept for the next request: making one takes as long as a short search, and may delay
// an application.
tune::context context_on(const device_address& address) {
  static never_destroyed<std::vector<std::pair<device_address, tune::context>>> kept;
  for (const auto& [of, context] : *kept) {
    if (of == address) return context;
  }
  const auto device = find_device(address, devices_of(address.backend));
  if (!device) {
    throw argument_error(fmt::format("a new process does not find device {}, but {}",
                                     describe(address), describe_all(all_devices())));
  }
  return kept->emplace_back(address, device->create_context()).second;
}

found_request find(const tuning_request& request) {
  auto function = find_function(request.function, request.key);
  require_strategy(request.options);
  found_request found{std::move(function), context_on(request.device)};
  set_tuning_options(found.context, request.context_options);
  return found;
}

tuner_message carry_out(tuner_link& link, const tuning_request& request, const found_request& found,
                        step_gate* gate) {
  tuning_options options = request.options;
  options.observers.push_back(std::make_shared<remote_observer>(link));
  const tuning_subject subject{.function = split_name(request.function.name).first,
                               .version = request.function.version,
                               .arguments = request.key,
                               .device = found.context.device().info(),
                               .test_default = found.function->test_default()};
  const tuning_task task{.context = found.context,
                         .function = request.function,
                         .tunes = found.function->tunes(),
                         .subject = subject,
                         .options = options,
                         .read_prior =
                             [&](const search_identity& search) {
                               link.send(prior_question{search});
                               prior_knowledge whole;
                               for (bool more = true; more;) {
                                 auto part = link.receive_answer<prior_answer>();
                                 more = part.more;
                                 append(whole, std::move(part.known));
                               }
                               return whole;
                             },
                         .choice = request.choice,
                         .peaks = request.peaks};
  const step_listener watched =
      [watchdog = remote_watchdog(link)](const step_event& event) mutable { watchdog(event); };
  try {
    // The whole process belongs to the tuning, with all threads of its function.
    found.context.impl()->set_quota(make_quota(found.context, options.memory));
    tuned_values made = tune_here(task, {.listener = &watched, .gate = gate});
    return tuning_result{std::move(made.values), made.score};
  } catch (...) {
    return describe_failure(std::current_exception());
  }
}

void serve_request(tuner_link& link, const tuning_request& request) {
  std::optional<found_request> found;
  step_gate* gate = nullptr;
  try {
    gate = gate_of_parent()();
    set_test_mode(request.testing);
    found.emplace(find(request));
    inherit(request.around);
  } catch (const std::exception& failure) {
    return link.send(refusal{failure.what()});
  }
  link.send(acceptance{});
  link.send(carry_out(link, request, *found, gate));
}

function_list list_all() {
  function_list all;
  const auto add = [&](const autotuner_core& function) {
    function_identity listed = function.identity();
    listed.name = name_with_goal(listed.name, function.goal());
    all.functions.push_back({std::move(listed), function.test_default()});
  };
  for (const autotuner_core* function : registered_autotuners()) add(*function);
  for (const auto& function : autotuner_registry::instance().make_examples()) add(*function);
  return all;
}

check_answer check(const check_request& request) {
  try {
    function_identity function = request.function;
    function.name = split_name(function.name).first;
    autotuner_registry::instance().check(function, request.values);
    return {};
  } catch (const std::exception& refused) {
    return {refused.what()};
  }
}

step_gate* refuse_gate() {
  if (::secure_getenv(gate_variable_name) == nullptr) return nullptr;
  throw error(lacks("extra/behind", "tunes behind another"));
}

constinit gate_maker gate_of_program = refuse_gate;

}  // namespace

gate_maker& gate_of_parent() noexcept { return gate_of_program; }

void serve_tuning(int socket) {
  // Never deleted, because other threads may log until the end of the process.
  auto* const link = new tuner_link(socket);
  link->send(handshake{.library = std::string(library_version())});
  redirect_log([link](log_level level, std::string_view text) {
    link->send(log_line{level, cut(std::string(text))});
  });
  install_executor(std::make_shared<this_process>());
  while (true) {
    const tuner_message message = link->receive();
    if (const auto* request = std::get_if<tuning_request>(&message)) {
      serve_request(*link, *request);
    } else if (std::holds_alternative<list_request>(message)) {
      link->send(list_all());
    } else if (const auto* asked = std::get_if<check_request>(&message)) {
      link->send(check(*asked));
    }
  }
}

}  // namespace tune::detail
