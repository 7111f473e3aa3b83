// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/tuner_service.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/process/process_state.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/remote/tuner_link.hpp"

namespace tune::detail {
namespace {

// No text has to be so long that a message cannot hold it.
constexpr std::size_t longest_text = std::size_t{1} << 24;

std::string cut(std::string text) {
  if (text.size() > longest_text) text.resize(longest_text);
  return text;
}

trial with_short_reason(trial made) {
  made.reason = cut(std::move(made.reason));
  return made;
}

/// Tells the parent what an observer there is to hear, and goes on when it has.
class distant_observer final : public observer {
 public:
  explicit distant_observer(tuner_link& link) noexcept : link_(link) {}

  void search_started(const search_started_event& event) override { tell(started_news{event}); }
  void trial_taken_over(const tuning_subject&, const trial& taken) override {
    tell(taken_over_news{taken});
  }
  void trial_finished(const tuning_subject&, const trial& made) override {
    tell(trial_news{with_short_reason(made), false});
  }
  void trial_refined(const tuning_subject&, const trial& made) override {
    tell(trial_news{with_short_reason(made), true});
  }
  void progressed(const tuning_subject&, const search_progress& now) override {
    tell(progress_news{now});
  }
  void search_finished(const search_finished_event& event) override {
    std::optional<std::size_t> best;
    if (event.best) best = event.trials[*event.best].index;
    tell(finished_news{best, event.elapsed, event.end, event.doubts, event.times});
  }

 private:
  void tell(const tuner_message& news) {
    link_.send(news);
    static_cast<void>(link_.receive_answer<acknowledgement>());
  }

  tuner_link& link_;
};

class distant_watchdog final : public step_listener {
 public:
  explicit distant_watchdog(tuner_link& link) noexcept : link_(link) {}

  void step_begins(const search_step& step) override {
    before_.emplace_back();
    link_.send(step_begin{step});
  }
  // A process that is no good any more waits to be ended.
  void step_ends() noexcept override {
    const auto spoilt = process_state().change_since(before_.back());
    before_.pop_back();
    if (!spoilt) return link_.send(step_end{});
    link_.send(process_spoilt{*spoilt});
    static_cast<void>(link_.receive());
  }
  void compiling_begins() noexcept override { link_.send(compile_begin{}); }
  void compiling_ends() noexcept override { link_.send(compile_end{}); }
  void tuning_begins(const nested_tuning& inner) override { link_.send(inner_begin{inner}); }
  void search_begins(const search_identity& search) override { link_.send(inner_search{search}); }
  void tuning_ends() noexcept override { link_.send(inner_end{}); }
  void tuning_made(const std::string& name, const std::vector<named_value>& values,
                   bool for_process) override {
    link_.send(inner_result{name, values, for_process});
  }
  void wait_begins(std::chrono::milliseconds limit) override { link_.send(wait_begin{limit}); }
  void waiting(const waiting_event& event) override { link_.send(wait_news{event}); }
  void wait_ends() noexcept override { link_.send(wait_end{}); }

 private:
  tuner_link& link_;
  std::vector<process_state> before_;  // the steps that are under way, one inside the other
};

/// Calls inside an autotune function tune in this process: a child has no children that tune.
class this_process final : public executor {
 private:
  tuned_values do_tune(const tuning_task& task) override { return tune_here(task); }
};

/// What a request needs, found in this process.
struct found_request {
  const autotuner_core* function;
  tune::context context;
};

const autotuner_core& find_function(const function_identity& wanted) {
  const auto all = registered_autotuners();
  const auto found = std::ranges::find_if(all, [&](const autotuner_core* candidate) {
    return candidate->identity().name == wanted.name &&
           candidate->identity().version == wanted.version;
  });
  if (found == all.end()) {
    throw argument_error(fmt::format(
        "the autotune function '{}' is not there when main begins; make it a static object outside "
        "of any function",
        wanted.name));
  }
  if ((*found)->identity() != wanted) {
    throw argument_error(
        fmt::format("the autotune function '{}' has other fields in a new process", wanted.name));
  }
  return **found;
}

found_request find(const tuning_request& request) {
  const autotuner_core& function = find_function(request.function);
  const std::vector<device> all = all_devices();
  const auto device = find_device(request.device, all);
  if (!device) {
    throw argument_error(fmt::format("a new process does not find device {}, but {}",
                                     describe(request.device), describe_all(all)));
  }
  found_request found{&function, device->create_context()};
  set_tuning_options(found.context, request.context_options);
  return found;
}

tuning_failure describe_failure(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const tuning_failed_error& failure) {
    return {failure_kind::tuning_failed, cut(failure.what()), {}};
  } catch (const empty_space_error& failure) {
    return {failure_kind::empty_space, cut(failure.what()), {}};
  } catch (const build_error& failure) {
    return {failure_kind::build, cut(failure.what()), cut(failure.log())};
  } catch (const type_error& failure) {
    return {failure_kind::type, cut(failure.what()), {}};
  } catch (const argument_error& failure) {
    return {failure_kind::argument, cut(failure.what()), {}};
  } catch (const no_device_error& failure) {
    return {failure_kind::no_device, cut(failure.what()), {}};
  } catch (const std::exception& failure) {
    return {failure_kind::other, cut(failure.what()), {}};
  } catch (...) {
    return {failure_kind::other, "something that is not a std::exception was thrown", {}};
  }
}

tuner_message carry_out(tuner_link& link, const tuning_request& request,
                        const found_request& found) {
  tuning_options options = request.options;
  options.observers.push_back(std::make_shared<distant_observer>(link));
  const tuning_subject subject{.function = request.function.name,
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
                               link.send(recall_question{search});
                               prior_knowledge whole;
                               for (bool more = true; more;) {
                                 auto part = link.receive_answer<recall_answer>();
                                 more = part.more;
                                 append(whole, std::move(part.known));
                               }
                               return whole;
                             },
                         .choice = request.choice};
  distant_watchdog watched(link);
  try {
    tuned_values made = tune_here(task, {.listener = &watched});
    return tuning_result{std::move(made.values), made.score};
  } catch (...) {
    return describe_failure(std::current_exception());
  }
}

void serve_request(tuner_link& link, const tuning_request& request) {
  std::optional<found_request> found;
  try {
    set_test_mode(request.testing);
    found.emplace(find(request));
    inherit(request.around);
  } catch (const std::exception& failure) {
    return link.send(refusal{failure.what()});
  }
  link.send(acceptance{});
  link.send(carry_out(link, request, *found));
}

function_list list_all() {
  function_list all;
  for (const autotuner_core* function : registered_autotuners()) {
    all.functions.push_back({function->identity(), function->test_default()});
  }
  return all;
}

check_answer check(const check_request& request) {
  try {
    autotuner_registry::instance().check(request.function, request.values);
    return {};
  } catch (const std::exception& refused) {
    return {refused.what()};
  }
}

}  // namespace

void serve_tuning(int socket) {
  // For as long as the process lives, whichever threads still log.
  auto* const link = new tuner_link(socket);
  link->send(tuner_greeting{.library = std::string(library_version())});
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
