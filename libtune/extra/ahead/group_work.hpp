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

/// A device can never be used again, because its rank has been lost. The key is not at fault.
class device_lost_error : public error {
 public:
  using error::error;
};

/// Returns true if a device can never be used again. An empty function: no device is lost.
using device_loss = std::function<bool(const device&)>;

/// Returns the reason why values are no longer a tuning of a function; an empty text if they are
/// one. An empty function accepts all.
using tuning_refusal = std::function<std::string(const function_identity& function,
                                                 const std::vector<named_value>& values)>;

/// Devices that share their results, because they have one identity and one backend. At least one.
struct device_group {
  std::vector<device> devices{};

  const device_info& info() const { return devices.front().info(); }
};

/// Groups devices; the groups are in the order of their first devices.
std::vector<device_group> group_devices(std::span<const device> devices);

class shared_results;

/// The state that all groups of devices share while they tune. All references must outlive it.
struct pretuning_setting {
  const remote_tuner& tune;
  std::span<const pretuning_item> items;
  const pretuning_options& options;      ///< the given options
  const tuning_options& search_options;  ///< the tuning options with all members resolved
  std::shared_ptr<const tuning_layers> layers;
  std::shared_ptr<shared_results> shared;  ///< null without a shared store
  std::size_t searches;                    ///< the most at the same time
  const tuning_refusal& refuses;
  const device_loss& is_lost;
  std::mutex& telling;                     ///< held during calls of the listener
  std::vector<pretuning_result>& results;  ///< the device that leads a job writes its result
};

/// A group of devices at work, with a thread for each, during the life of this object.
class group_work {
 public:
  /// @param jobs           indices in the setting's results
  /// @param items_of_jobs  the indices of their items, for all results
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

/// Runs pretune with a given function to tune instead of child processes of a program.
/// @param tune     thread-safe
/// @param refuses  thread-safe
/// @param is_lost  thread-safe; other devices continue the jobs of a lost device
std::vector<pretuning_result> pretune_with(const remote_tuner& tune,
                                           std::span<const pretuning_item> items,
                                           std::span<const device> devices,
                                           const pretuning_options& options,
                                           const tuning_refusal& refuses = {},
                                           const device_loss& is_lost = {});

}  // namespace tune
