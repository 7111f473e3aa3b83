// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/key_tuning.hpp"

#include <algorithm>
#include <exception>
#include <latch>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/tune/error.hpp"

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
  search_in_parts(job, leader);
  require_going_on();
  if (auto made = measure_finals(leader)) return *std::move(made);
  require_going_on();
  return search_whole(leader);
}

void key_tuning::require_going_on() const {
  if (is_stopped()) throw tuning_stopped_error("it was ended; a later search goes on with it");
}

remote_task key_tuning::task_for(const device& device,
                                 const std::shared_ptr<search_share>& share) const {
  remote_task task{.function = setting_.function,
                   .key = setting_.key,
                   .device = device,
                   .options = setting_.options,
                   .context_options = setting_.context_options,
                   .children = setting_.searches};
  task.options.observers.push_back(share);
  task.read_prior = [share](const search_identity& search) { return share->read_prior(search); };
  task.stop = [this] { return is_stopped(); };
  return task;
}

// What the parts have left, or could not do: another search of the function, or all of it.
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
  const auto outlook = pace_.look(left, search_pace::clock::now());
  const auto most = worthwhile_parts(left, outlook, setting_.smallest_part);
  if (!most) return false;
  if (*most < 2) {
    job.settle();
    return false;
  }
  helpers_ = job.reserve(*most - 1);
  return helpers_ > 0;
}

void key_tuning::search_in_parts(led_job& job, const device& leader) {
  const auto parts = divide(*search_.under_way(), search_.tried(), setting_.options, helpers_ + 1);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    shares_.push_back(search_.share(search_role::part, i == 0));
  }
  devices_ = parts.size();
  if (setting_.divided) setting_.divided(devices_);
  std::latch others(static_cast<std::ptrdiff_t>(helpers_));
  std::vector<led_job::part> help;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    help.emplace_back([this, &parts, &others, i](const device& helper) {
      try_part(parts[i], helper, shares_[i]);
      others.count_down();
    });
  }
  job.help(std::move(help), helpers_);
  job.settle();
  try_part(parts[0], leader, shares_[0]);
  others.wait();
}

// That nothing works in one part says nothing of the others.
void key_tuning::try_part(const search_part& part, const device& device,
                          const std::shared_ptr<search_share>& share) noexcept {
  try {
    remote_task task = task_for(device, share);
    task.choice = part.choice;
    task.children = setting_.devices;
    const auto observers = std::move(task.options.observers);
    task.options = part.options;
    task.options.observers = observers;
    task.stop = [&] { return is_stopped() || share->has_gone_on(); };
    setting_.tune(task);
  } catch (const tuning_stopped_error&) {
  } catch (const tuning_failed_error&) {
  } catch (const std::exception& failure) {
    log(log_level::warning,
        std::string("a part of a search is left to the device that leads it: ") + failure.what());
    part_failed_ = true;
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
    if (part_failed_ || share->has_gone_on()) return std::nullopt;
    search_.conclude();
    return made;
  } catch (const tuning_stopped_error&) {
  } catch (const tuning_failed_error& failure) {
    log(log_level::info,
        std::string("none of the best of a divided search works any more: ") + failure.what());
  }
  return std::nullopt;
}

}  // namespace tune
