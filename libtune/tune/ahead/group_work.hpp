// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/ahead/job_queue.hpp"
#include "libtune/tune/ahead/key_tuning.hpp"
#include "libtune/tune/ahead/pretuning.hpp"

namespace tune {

/// Devices that share their results: of one identity, through one backend. One at least.
struct device_group {
  std::vector<device> devices{};

  const device_info& info() const { return devices.front().info(); }
};

/// The groups of some devices, in the order in which they first occur.
std::vector<device_group> group_devices(std::span<const device> devices);

/// The state that all groups of devices share while they tune. All that it refers to outlives it.
struct pretuning_setting {
  const remote_tuner& tune;
  std::span<const pretuning_item> items;
  const pretuning_options& options;      ///< as they were given
  const tuning_options& search_options;  ///< with all resolved
  std::shared_ptr<const tuning_layers> layers;
  std::size_t searches;  ///< under way at once at most, while none is divided
  std::size_t devices;   ///< of all groups
  const tuning_refusal& refuses;
  std::mutex& telling;                     ///< held while the listener is called
  std::vector<pretuning_result>& results;  ///< each is written by the device that leads its job
};

/// A group of devices at work, a thread for each, from the beginning of this object to its end.
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
  void lead(led_job& job, const device& leader);
  void tune_key(led_job& job, const device& leader, const pretuning_item& item,
                pretuning_result& result);
  std::optional<record> find(const pretuning_item& item) const;
  bool is_tuning(const pretuning_item& item, const record& found) const;
  bool is_stopped() const { return setting_.options.stop && setting_.options.stop(); }
  template <class Call>
  void tell(const Call& call) const;

  const pretuning_setting& setting_;
  device_group group_;
  std::span<const std::size_t> items_of_jobs_;
  job_queue queue_;
  std::vector<std::jthread> threads_;
};

/// pretune, with another way to tune than child processes of a program.
/// @param tune     thread-safe
/// @param refuses  thread-safe
std::vector<pretuning_result> pretune_with(const remote_tuner& tune,
                                           std::span<const pretuning_item> items,
                                           std::span<const device> devices,
                                           const pretuning_options& options,
                                           const tuning_refusal& refuses = {});

}  // namespace tune
