// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/tune/ahead/division.hpp"
#include "libtune/tune/ahead/search_pace.hpp"
#include "libtune/tune/ahead/shared_search.hpp"
#include "libtune/tune/ahead/work_board.hpp"
#include "libtune/tune/remote/remote_tuning.hpp"

namespace tune {

/// Runs an autotune function somewhere else: tune_remotely with a program.
using remote_tuner = std::function<tuned_values(const remote_task&)>;

/// Why values are no tuning of a function any more; empty if they are. An empty function accepts
/// all.
using tuning_refusal = std::function<std::string(const function_identity& function,
                                                 const std::vector<named_value>& values)>;

/// The search for one key on devices that are alike. All that it refers to outlives it.
struct key_tuning_setting {
  const remote_tuner& tune;
  const function_identity& function;
  const std::vector<named_value>& key;
  const tuning_options& options;          ///< with the budget resolved, and without observers
  const tuning_options& context_options;  ///< what calls inside the function use
  tuning_transaction& kept;
  std::vector<std::shared_ptr<observer>> listeners{};
  std::function<bool()> stop{};
  std::size_t searches = 1;  ///< under way at once at most, this one included
  std::size_t devices = 1;   ///< that may be at work at once, as parts of a search or otherwise
  std::chrono::nanoseconds smallest_part;      ///< as pretuning_options has it
  std::function<void(std::size_t)> divided{};  ///< told the number of devices
};

/// Tunes one key: on one device, and as soon as others have nothing to do on these too. Used once,
/// by the thread of the device that leads.
class key_tuning {
 public:
  explicit key_tuning(key_tuning_setting setting);

  /// @throws what tune_remotely throws; tuning_stopped_error if stop said so
  tuned_values run(led_job& job, const device& leader);

  /// How many devices have taken part so far.
  std::size_t devices() const noexcept { return devices_; }

 private:
  remote_task task_for(const device& device, const std::shared_ptr<search_share>& share) const;
  tuned_values search_whole(const device& leader);
  std::optional<tuned_values> search_until_divided(led_job& job, const device& leader);
  bool wants_help(led_job& job);
  void release(led_job& job);
  void search_in_parts(led_job& job, const device& leader);
  void try_part(const search_part& part, const device& device,
                const std::shared_ptr<search_share>& share) noexcept;
  std::optional<tuned_values> measure_finals(const device& leader);
  bool is_stopped() const { return setting_.stop && setting_.stop(); }
  void require_going_on() const;

  key_tuning_setting setting_;
  shared_search search_;
  search_pace pace_;
  std::vector<std::shared_ptr<search_share>> shares_;  // of the parts
  std::size_t helpers_ = 0;                            // reserved
  std::size_t devices_ = 1;
  std::atomic<bool> part_failed_ = false;
};

}  // namespace tune
