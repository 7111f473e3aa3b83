// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/remote_tuning.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "libtune/base/environment.hpp"
#include "libtune/base/log.hpp"
#include "libtune/process/usable_resources.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/tune/remote/remote_search.hpp"

namespace tune {
namespace {

constexpr std::chrono::seconds time_to_answer{10};

tuner_program sharing_cores(tuner_program program, std::size_t children) {
  if (children < 2 || read_environment("LIBTUNE_WORKERS")) return program;
  const int all = detail::worker_count(detail::find_usable_resources());
  const int each = std::max(1, all / static_cast<int>(children));
  program.variables.push_back("LIBTUNE_WORKERS=" + std::to_string(each));
  return program;
}

/// Asks a child one question. @throws tuner_unavailable_error
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

tuned_values tune_remotely(const tuner_program& program, const remote_task& task) {
  return detail::remote_search(sharing_cores(program, task.children), task).run();
}

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
