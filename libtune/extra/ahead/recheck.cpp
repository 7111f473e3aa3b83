// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/recheck.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/child/tuner_child.hpp"
#include "libtune/extra/ahead/job_queue.hpp"
#include "libtune/extra/ahead/recheck_work.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
namespace {

/// All groups of devices at work. All references must outlive it.
class recheck_run {
 public:
  recheck_run(const remote_tuner& tune, std::span<const remote_function> functions,
              std::span<const stored_winner> winners, const recheck_options& options)
      : tune_(tune),
        functions_(functions),
        winners_(winners),
        options_(options),
        search_(search_of(options)),
        database_(*search_.database, {},
                  options.repair ? database_access::read_write : database_access::read_only),
        results_(winners.size()) {}

  std::vector<recheck_result> run(std::span<const device> devices);

 private:
  static tuning_options search_of(const recheck_options& options);
  void work(job_queue& jobs, const device& device);
  void compare(std::size_t number, const device& device, detail::kept_child& child);
  void leave_rest(std::span<const device_group> groups);
  void tell_end(std::size_t number);
  template <class Call>
  void tell(const Call& call);

  const remote_tuner& tune_;
  std::span<const remote_function> functions_;
  std::span<const stored_winner> winners_;
  const recheck_options& options_;
  const tuning_options search_;
  tuning_database database_;
  std::size_t children_ = 1;
  std::mutex telling_;
  std::vector<recheck_result> results_;
};

tuning_options recheck_run::search_of(const recheck_options& options) {
  tuning_options given = options.tuning;
  given.given_by = option_source::command;
  const tuning_settings settings = resolve_settings(given);
  if (settings.database.empty()) {
    throw argument_error("there is no database with results; name one");
  }
  tuning_options resolved = settings.search;
  resolved.database = settings.database;
  resolved.system_databases = settings.system_databases;
  resolved.shared_store = std::string();
  return resolved;
}

template <class Call>
void recheck_run::tell(const Call& call) {
  if (options_.listener == nullptr) return;
  const std::lock_guard lock(telling_);
  call(*options_.listener);
}

tuning_subject subject_of(const stored_winner& winner, const device_info& device) {
  return {.function = detail::split_name(winner.function.name).first,
          .version = winner.function.version,
          .arguments = winner.key,
          .device = device};
}

std::vector<recheck_result> recheck_run::run(std::span<const device> devices) {
  if (options_.repair) database_.require_writable();
  const std::vector<device_group> groups = group_devices(devices);
  tell([&](recheck_listener& listener) { listener.planned(results_.size()); });
  children_ = std::max<std::size_t>(1, std::min(devices.size(), winners_.size()));
  std::vector<std::unique_ptr<job_queue>> queues;
  {
    std::vector<std::jthread> threads;
    for (const device_group& group : groups) {
      std::vector<std::size_t> jobs;
      for (std::size_t i = 0; i < winners_.size(); ++i) {
        if (winners_[i].device == group.info().identity) jobs.push_back(i);
      }
      queues.push_back(std::make_unique<job_queue>(jobs));
      for (const device& each : group.devices) {
        threads.emplace_back([this, &each, &queue = *queues.back()] { work(queue, each); });
      }
    }
  }
  leave_rest(groups);
  return std::move(results_);
}

void recheck_run::work(job_queue& jobs, const device& device) {
  detail::kept_child child;
  while (const auto job = jobs.next()) compare(job->number(), device, child);
}

void recheck_run::compare(std::size_t number, const device& device, detail::kept_child& child) {
  recheck_result& result = results_[number];
  const tuning_subject subject = subject_of(winners_[number], device.info());
  result.subject = subject;
  const auto begin = std::chrono::steady_clock::now();
  if (options_.stop && options_.stop()) {
    result.winner = winners_[number];
    result.is_stopped = true;
    result.reason = "ended before it was compared";
    return tell_end(number);
  }
  tell([&](recheck_listener& listener) { listener.began(number, subject); });
  try {
    result = detail::recheck_task(tune_, search_, options_, database_, functions_)
                 .run(winners_[number], device, child, children_);
  } catch (const std::exception& failure) {
    result.winner = winners_[number];
    result.verdict = recheck_verdict::unknown;
    result.reason = failure.what();
  }
  result.subject = subject;
  result.elapsed = std::chrono::steady_clock::now() - begin;
  tell_end(number);
}

void recheck_run::leave_rest(std::span<const device_group> groups) {
  for (std::size_t i = 0; i < winners_.size(); ++i) {
    const bool is_here = std::ranges::any_of(groups, [&](const device_group& group) {
      return group.info().identity == winners_[i].device;
    });
    if (is_here) continue;
    device_info absent;
    absent.identity = winners_[i].device;
    results_[i].winner = winners_[i];
    results_[i].subject = subject_of(winners_[i], absent);
    results_[i].reason = "its device is not here";
    tell_end(i);
  }
}

void recheck_run::tell_end(std::size_t number) {
  tell([&](recheck_listener& listener) { listener.ended(number, results_[number]); });
}

}  // namespace

std::vector<recheck_result> recheck_with(const remote_tuner& tune,
                                         std::span<const remote_function> functions,
                                         std::span<const stored_winner> winners,
                                         std::span<const device> devices,
                                         const recheck_options& options) {
  return recheck_run(tune, functions, winners, options).run(devices);
}

std::vector<recheck_result> recheck(const tuner_program& program,
                                    std::span<const stored_winner> winners,
                                    std::span<const device> devices,
                                    const recheck_options& options) {
  const std::vector<remote_function> functions = list_functions(program);
  tuner_program quiet = program;
  quiet.variables.emplace_back("LIBTUNE_MISSED=off");
  const auto tune = [&](const remote_task& task) { return tune_remotely(quiet, task); };
  return recheck_with(tune, functions, winners, devices, options);
}

}  // namespace tune
