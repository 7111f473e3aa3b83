// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/group_work.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <utility>
#include <variant>

#include "libtune/base/log.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

constexpr std::chrono::milliseconds between_looks{200};

/// Counts what is tried, and hands on how far a search is.
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

group_work::group_work(const pretuning_setting& setting, device_group group,
                       const std::vector<std::size_t>& jobs,
                       std::span<const std::size_t> items_of_jobs)
    : setting_(setting), group_(std::move(group)), items_of_jobs_(items_of_jobs), board_(jobs) {
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
  while (auto task = board_.next()) {
    if (auto* help = std::get_if<led_job::part>(&*task)) {
      (*help)(device);
    } else {
      lead(std::get<led_job>(*task), device);
    }
  }
}

void group_work::lead(led_job& job, const device& leader) {
  const pretuning_item& item = setting_.items[items_of_jobs_[job.number()]];
  pretuning_result& result = setting_.results[job.number()];
  result.subject = {.function = item.function.name,
                    .version = item.function.version,
                    .arguments = item.key,
                    .device = group_.info()};
  const auto begin = std::chrono::steady_clock::now();
  tell([&](pretuning_listener& listener) { listener.began(job.number(), result.subject); });
  try {
    tune_key(job, leader, item, result);
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
  if (setting_.options.force) return std::nullopt;
  auto found =
      setting_.layers->user()->find_patiently(item.function, {item.key, group_.info().identity});
  if (found && !is_tuning(item, *found)) found.reset();
  return found;
}

// The columns may be right and a value still be none of the present tuning.
bool group_work::is_tuning(const pretuning_item& item, const record& found) const {
  if (!setting_.refuses) return true;
  const std::string reason = setting_.refuses(item.function, found.values);
  if (reason.empty()) return true;
  warn_once(
      fmt::format("a result of '{}' ({}) counts as not there, for it is no tuning any more: "
                  "{}; raise the version of the autotune function",
                  item.function.name, to_string(found.values), reason));
  return false;
}

void group_work::tune_key(led_job& job, const device& leader, const pretuning_item& item,
                          pretuning_result& result) {
  const record_key key{item.key, group_.info().identity};
  const std::string search = search_name(item.function, key);
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
      setting_.layers, item.function, key,
      setting_.options.force ? tuning_mode::force : tuning_mode::tune,
      [&](const record& found) { return is_tuning(item, found); }, wait);
  const auto watch = std::make_shared<progress_watch>(
      result.trials, [this, number = job.number()](const search_progress& now) {
        tell([&](pretuning_listener& listener) { listener.progressed(number, now); });
      });
  key_tuning tuning(
      {.tune = setting_.tune,
       .function = item.function,
       .key = item.key,
       .options = setting_.search_options,
       .context_options = setting_.search_options,
       .kept = kept,
       .listeners = {watch},
       .stop = setting_.options.stop,
       .searches = setting_.searches,
       .devices = setting_.devices,
       .smallest_part = setting_.options.smallest_part,
       .divided = [this, number = job.number()](std::size_t devices) {
         tell([&](pretuning_listener& listener) { listener.divided(number, devices); });
       }});
  const tuned_values made = tuning.run(job, leader);
  result.values = kept.store(made);
  result.devices = tuning.devices();
  result.score = made.score;
  if (!kept.is_stored()) {
    throw error(
        fmt::format("its result could not be stored in '{}'", setting_.layers->user()->path()));
  }
  result.state = pretuning_state::tuned;
}

}  // namespace tune
