// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/child/tuner_child.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/ahead/job_queue.hpp"
#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"

namespace tune {

/// Runs an autotune function in another process: tune_remotely with a program.
using remote_tuner = std::function<tuned_values(const remote_task&)>;

/// A device can never be used again, because its rank has been lost. Nothing is wrong with the key.
class device_lost_error : public error {
 public:
  using error::error;
};

/// Returns true if a device can never be used again. An empty function: none has been lost.
using device_loss = std::function<bool(const device&)>;

/// Returns why values are no tuning of a function any more; empty if they are one. An empty
/// function accepts all.
using tuning_refusal = std::function<std::string(const function_identity& function,
                                                 const std::vector<named_value>& values)>;

/// Devices that share their results: of one identity, through one backend. One at least.
struct device_group {
  std::vector<device> devices{};

  const device_info& info() const { return devices.front().info(); }
};

/// The groups of some devices, in the order in which they first occur.
std::vector<device_group> group_devices(std::span<const device> devices);

class shared_results;

/// The state that all groups of devices share while they tune. All that it refers to outlives it.
struct pretuning_setting {
  const remote_tuner& tune;
  std::span<const pretuning_item> items;
  const pretuning_options& options;      ///< as they were given
  const tuning_options& search_options;  ///< with all resolved
  std::shared_ptr<const tuning_layers> layers;
  std::shared_ptr<shared_results> shared;  ///< null: there is no store
  std::size_t searches;                    ///< under way at once at most
  const tuning_refusal& refuses;
  const device_loss& is_lost;
  std::mutex& telling;                     ///< held while the listener is called
  std::vector<pretuning_result>& results;  ///< each is written by the device that leads its job
};

/// A group of devices at work, a thread for each,
/// from the beginning of this object to its end.
class group_work {
 public:
  /// @param jobs  places in the setting's results
  /// @param items_of_jobs  the places of their items, for all results
  group_work(const pretuning_setting& setting, device_group group,
             const std::vector<std::size_t>& jobs, std::span<const std::size_t> items_of_jobs);
  group_work(const group_work&) = delete;
  group_work& operator=(const group_work&) = delete;

 private:
  void work(const device& device);
  void lead(led_job& job, const device& leader, detail::kept_child& child);
  void leave();
  tuning_subject subject_of(const pretuning_item& item) const;
  void tune_key(led_job& job, const device& leader, detail::kept_child& child,
                const pretuning_item& item, pretuning_result& result);
  std::optional<record> find(const pretuning_item& item) const;
  void ask_shared_store(const pretuning_item& item) const;
  bool is_tuning(const pretuning_item& item, const record& found) const;
  tuning_mode mode(const pretuning_item& item) const {
    return setting_.options.force || item.again ? tuning_mode::force : tuning_mode::tune;
  }
  bool is_stopped() const { return setting_.options.stop && setting_.options.stop(); }
  template <class Call>
  void tell(const Call& call) const;

  const pretuning_setting& setting_;
  device_group group_;
  std::span<const std::size_t> items_of_jobs_;
  job_queue queue_;
  std::atomic<std::size_t> left_;  // devices that have not been lost
  std::vector<std::jthread> threads_;
};

/// pretune, with another way to tune than child processes of a program.
/// @param tune     thread-safe
/// @param refuses  thread-safe
/// @param is_lost  thread-safe; other devices do the jobs of a lost one
std::vector<pretuning_result> pretune_with(const remote_tuner& tune,
                                           std::span<const pretuning_item> items,
                                           std::span<const device> devices,
                                           const pretuning_options& options,
                                           const tuning_refusal& refuses = {},
                                           const device_loss& is_lost = {});

}  // namespace tune
