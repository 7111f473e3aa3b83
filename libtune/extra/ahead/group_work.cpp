// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/group_work.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/extra/shared/shared_results.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/lookup_plan.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
namespace {

constexpr std::chrono::milliseconds between_looks{200};

/// Counts the trials, and reports the progress of a search.
class progress_watch final : public observer {
 public:
  using tell_function = std::function<void(const search_progress&)>;

  progress_watch(std::size_t& trials, tell_function tell)
      : trials_(trials), tell_(std::move(tell)) {}

  void trial_finished(const tuning_subject&, const trial&) override { ++trials_; }
  void progressed(const tuning_subject&, const search_progress& now) override { tell_(now); }

 private:
  std::size_t& trials_;
  tell_function tell_;
};

}  // namespace

std::vector<device_group> group_devices(std::span<const device> devices) {
  std::vector<device_group> groups;
  for (const device& item : devices) {
    const auto group = std::ranges::find_if(groups, [&](const device_group& known) {
      return known.info().backend == item.info().backend &&
             known.info().identity == item.info().identity;
    });
    if (group == groups.end()) {
      groups.push_back({{item}});
    } else {
      group->devices.push_back(item);
    }
  }
  return groups;
}

group_work::group_work(const pretuning_setting& setting, device_group group,
                       const std::vector<std::size_t>& jobs,
                       std::span<const std::size_t> items_of_jobs)
    : setting_(setting),
      group_(std::move(group)),
      items_of_jobs_(items_of_jobs),
      queue_(jobs),
      left_(group_.devices.size()) {
  for (const device& device : group_.devices) {
    threads_.emplace_back([this, &device] { work(device); });
  }
}

template <class Call>
void group_work::tell(const Call& call) const {
  if (setting_.options.listener == nullptr) return;
  const std::lock_guard lock(setting_.telling);
  call(*setting_.options.listener);
}

void group_work::work(const device& device) {
  detail::kept_child child;
  while (!setting_.is_lost || !setting_.is_lost(device)) {
    auto job = queue_.next();
    if (!job) return;
    lead(*job, device, child);
  }
  if (--left_ == 0) leave();
}

// No device is left for these jobs.
void group_work::leave() {
  while (const auto job = queue_.next()) {
    pretuning_result& result = setting_.results[job->number()];
    result.subject = subject_of(setting_.items[items_of_jobs_[job->number()]]);
    result.reason = "all devices of this kind have been lost with their ranks";
    result.state = is_stopped() ? pretuning_state::stopped : pretuning_state::failed;
    tell([&](pretuning_listener& listener) { listener.ended(job->number(), result); });
  }
}

tuning_subject group_work::subject_of(const pretuning_item& item) const {
  return {.function = detail::split_name(item.function.name).first,
          .version = item.function.version,
          .arguments = item.key,
          .device = group_.info()};
}

void group_work::lead(led_job& job, const device& leader, detail::kept_child& child) {
  const pretuning_item& item = setting_.items[items_of_jobs_[job.number()]];
  pretuning_result& result = setting_.results[job.number()];
  result.subject = subject_of(item);
  const auto begin = std::chrono::steady_clock::now();
  tell([&](pretuning_listener& listener) { listener.began(job.number(), result.subject); });
  try {
    tune_key(job, leader, child, item, result);
    if (setting_.shared && result.state == pretuning_state::tuned) {
      setting_.shared->push(item.function, {item.key, group_.info().identity}, false);
    }
  } catch (const device_lost_error& loss) {
    tell([&](pretuning_listener& listener) { listener.lost(job.number(), loss.what()); });
    return job.give_back();
  } catch (const tuning_stopped_error& stopped) {
    result.state = pretuning_state::stopped;
    result.reason = stopped.what();
  } catch (const std::exception& failure) {
    result.state = pretuning_state::failed;
    result.reason = failure.what();
  }
  result.elapsed = std::chrono::steady_clock::now() - begin;
  tell([&](pretuning_listener& listener) { listener.ended(job.number(), result); });
}

std::optional<record> group_work::find(const pretuning_item& item) const {
  if (!lookup_plan(mode(item), match_mode::exact).uses_exact()) return std::nullopt;
  auto found =
      setting_.layers->user()->find_patiently(item.function, {item.key, group_.info().identity});
  if (found && !is_tuning(item, *found)) found.reset();
  return found;
}

// No lock is held during a call of the server.
void group_work::ask_shared_store(const pretuning_item& item) const {
  if (!setting_.shared || !lookup_plan(mode(item), match_mode::exact).uses_exact()) return;
  if (!find(item)) setting_.shared->adopt(item.function, {item.key, group_.info().identity});
}

// The columns may be right while a value is no longer valid for the present tuning.
bool group_work::is_tuning(const pretuning_item& item, const record& found) const {
  if (!setting_.refuses) return true;
  const std::string reason = setting_.refuses(item.function, found.values);
  if (reason.empty()) return true;
  warn_once(
      fmt::format("a result of '{}' ({}) is not used, because it is no longer a tuning: "
                  "{}; raise the version of the autotune function",
                  item.function.name, to_string(found.values), reason));
  return false;
}

void group_work::tune_key(led_job& job, const device& leader, detail::kept_child& child,
                          const pretuning_item& item, pretuning_result& result) {
  const record_key key{item.key, group_.info().identity};
  const std::string search = search_name(item.function, key);
  ask_shared_store(item);
  key_lock lock(setting_.layers->user()->path(), search);
  const auto wait = *setting_.search_options.wait;
  const auto start = std::chrono::steady_clock::now();
  wait_report waits(wait_cause::search, result.subject, {}, wait);
  while (true) {
    if (is_stopped()) throw tuning_stopped_error("it was ended before it began");
    if (const auto found = find(item)) {
      result.state = pretuning_state::present;
      result.values = found->values;
      if (found->score_ns) result.score = run_time(*found->score_ns);
      return;
    }
    if (lock.take(between_looks)) break;
    const auto waited = std::chrono::steady_clock::now() - start;
    waits.look(waited, lock.holder());
    if (waited >= wait) {
      throw error(fmt::format(
          "another process has been tuning it for longer than LIBTUNE_WAIT allows ({} ms)",
          wait.count()));
    }
  }
  waits.end();
  const detail::tuning_scope scope(detail::tuning_name(setting_.layers->user()->path(), search));
  tuning_transaction kept(
      setting_.layers, item.function, key, mode(item),
      [&](const record& found) { return is_tuning(item, found); }, wait);
  const auto watch = std::make_shared<progress_watch>(
      result.trials, [this, number = job.number()](const search_progress& now) {
        tell([&](pretuning_listener& listener) { listener.progressed(number, now); });
      });
  remote_task task{.function = item.function,
                   .key = item.key,
                   .device = leader,
                   .options = setting_.search_options,
                   .context_options = setting_.search_options,
                   .read_prior = [&](const auto& identity) { return kept.read_prior(identity); },
                   .children = setting_.searches,
                   .stop = [this] { return is_stopped(); },
                   .kept = &child,
                   .peaks = setting_.layers->user()->path()};
  task.options.observers.push_back(kept.recorder());
  task.options.observers.push_back(watch);
  const tuned_values made = setting_.tune(task);
  result.values = kept.store(made);
  result.score = made.score;
  if (!kept.is_stored()) {
    throw error(
        fmt::format("its result could not be stored in '{}'", setting_.layers->user()->path()));
  }
  result.state = pretuning_state::tuned;
}

}  // namespace tune
