// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/group_work.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <latch>
#include <utility>
#include <variant>

#include "libtune/base/log.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/shared_results.hpp"

namespace tune {
namespace {

constexpr std::size_t finalists_of_each = 3;

}  // namespace

key_tuning::key_tuning(key_tuning_setting setting)
    : setting_(std::move(setting)),
      search_(setting_.kept, setting_.listeners),
      pace_(search_pace::clock::now()) {}

tuned_values key_tuning::run(led_job& job, const device& leader) {
  if (auto made = search_until_divided(job, leader)) return *std::move(made);
  search_in_shards(job, leader);
  require_not_stopped();
  if (auto made = measure_finals(leader)) return *std::move(made);
  require_not_stopped();
  return search_whole(leader);
}

void key_tuning::require_not_stopped() const {
  if (is_stopped()) throw tuning_stopped_error("it was ended; a later search goes on with it");
}

remote_task key_tuning::task_for(const device& device,
                                 const std::shared_ptr<search_share>& share) const {
  remote_task task{.function = setting_.function,
                   .key = setting_.key,
                   .device = device,
                   .options = setting_.options,
                   .context_options = setting_.context_options,
                   .children = setting_.searches,
                   .kept = &setting_.child};
  task.options.observers.push_back(share);
  task.read_prior = [share](const search_identity& search) { return share->read_prior(search); };
  task.stop = [this] { return is_stopped(); };
  return task;
}

// For all that the shards could not do: another search of the function, or the whole of it.
tuned_values key_tuning::search_whole(const device& leader) {
  return setting_.tune(task_for(leader, search_.share(search_role::whole)));
}

std::optional<tuned_values> key_tuning::search_until_divided(led_job& job, const device& leader) {
  remote_task task = task_for(leader, search_.share(search_role::whole));
  task.stop = [&] { return is_stopped() || wants_help(job); };
  try {
    tuned_values made = setting_.tune(task);
    release(job);
    return made;
  } catch (const tuning_stopped_error&) {
    if (!is_stopped() && helpers_ > 0) return std::nullopt;
    release(job);
    throw;
  } catch (...) {
    release(job);
    throw;
  }
}

void key_tuning::release(led_job& job) { job.help({}, std::exchange(helpers_, 0)); }

bool key_tuning::wants_help(led_job& job) {
  if (helpers_ > 0) return true;
  const std::size_t left = search_.left();
  if (left == 0) return false;
  // The best of the shards are found by time alone.
  if (own_name(setting_.function.name) != setting_.function.name) {
    job.settle();
    return false;
  }
  const auto forecast = pace_.look(left, search_pace::clock::now());
  const auto most = worthwhile_shards(left, forecast, setting_.smallest_shard);
  if (!most) return false;
  if (*most < 2) {
    job.settle();
    return false;
  }
  helpers_ = job.reserve(*most - 1);
  return helpers_ > 0;
}

void key_tuning::search_in_shards(led_job& job, const device& leader) {
  const auto shards = divide(*search_.under_way(), search_.tried(), setting_.options, helpers_ + 1);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shares_.push_back(search_.share(search_role::shard, i == 0));
  }
  devices_ = shards.size();
  if (setting_.divided) setting_.divided(devices_);
  std::latch others(static_cast<std::ptrdiff_t>(helpers_));
  std::vector<led_job::shard> help;
  for (std::size_t i = 1; i < shards.size(); ++i) {
    help.emplace_back([this, &shards, &others, i](const device& helper) {
      try_shard(shards[i], helper, shares_[i]);
      others.count_down();
    });
  }
  job.help(std::move(help), helpers_);
  job.settle();
  try_shard(shards[0], leader, shares_[0]);
  others.wait();
}

// The others may succeed where one shard has nothing that works.
void key_tuning::try_shard(const search_shard& shard, const device& device,
                           const std::shared_ptr<search_share>& share) noexcept {
  try {
    remote_task task = task_for(device, share);
    task.choice = shard.choice;
    task.children = setting_.devices;
    task.kept = nullptr;  // it belongs to the thread of the leader
    const auto observers = std::move(task.options.observers);
    task.options = shard.options;
    task.options.observers = observers;
    task.stop = [&] { return is_stopped() || share->has_gone_on(); };
    setting_.tune(task);
  } catch (const tuning_stopped_error&) {
  } catch (const tuning_failed_error&) {
  } catch (const std::exception& failure) {
    log(log_level::warning,
        std::string("a shard of a search is left to the device that leads it: ") + failure.what());
    shard_failed_ = true;
  }
}

std::optional<tuned_values> key_tuning::measure_finals(const device& leader) {
  const auto finalists = search_.finalists(shares_, finalists_of_each);
  if (finalists.empty()) return std::nullopt;
  const auto share = search_.share(search_role::finals);
  remote_task task = task_for(leader, share);
  task.choice = {.configurations = finalists};
  task.options.budget.reset();
  task.stop = [&] { return is_stopped() || share->has_gone_on(); };
  try {
    tuned_values made = setting_.tune(task);
    if (shard_failed_ || share->has_gone_on()) return std::nullopt;
    search_.conclude();
    return made;
  } catch (const tuning_stopped_error&) {
  } catch (const tuning_failed_error& failure) {
    log(log_level::info,
        std::string("none of the best of a divided search works any more: ") + failure.what());
  }
  return std::nullopt;
}

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
    auto task = queue_.next();
    if (!task) return;
    if (auto* help = std::get_if<led_job::shard>(&*task)) {
      (*help)(device);
    } else {
      lead(std::get<led_job>(*task), device, child);
    }
  }
  if (--left_ == 0) leave();
}

// No device is left that could do these.
void group_work::leave() {
  while (auto task = queue_.next()) {
    const auto& job = std::get<led_job>(*task);
    pretuning_result& result = setting_.results[job.number()];
    result.subject = subject_of(setting_.items[items_of_jobs_[job.number()]]);
    result.reason = "all devices of this kind have been lost with their ranks";
    result.state = is_stopped() ? pretuning_state::stopped : pretuning_state::failed;
    tell([&](pretuning_listener& listener) { listener.ended(job.number(), result); });
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

// No lock is held while the server is waited for.
void group_work::ask_shared_store(const pretuning_item& item) const {
  if (!setting_.shared || !lookup_plan(mode(item), match_mode::exact).uses_exact()) return;
  if (!find(item)) setting_.shared->adopt(item.function, {item.key, group_.info().identity});
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
       .child = child,
       .smallest_shard = setting_.options.smallest_shard,
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
