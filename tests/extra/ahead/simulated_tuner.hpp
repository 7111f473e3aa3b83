// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "libtune/child/remote_tuning.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/fake_device.hpp"

namespace pretuned {

/// Tunes as a child process would, without one: the function has configurations n = 1, 2, ... of
/// which a run takes as long as times says, and does what it is told. Thread-safe.
class simulated_tuner {
 public:
  /// A trial: on which device, of which configuration.
  struct made_trial {
    std::string device;  ///< device_name of it
    int n = 0;
  };

  std::size_t configurations = 32;
  /// Nanoseconds of a run of n on a device; zero or less: it fails.
  std::function<double(const std::string& device, int n)> time = [](const std::string&, int n) {
    return 1000.0 + n;
  };
  /// Called before each trial. May throw, which ends this child's tuning.
  std::function<void(const tune::remote_task&, int n)> before_trial;
  bool has_second_search = false;

  /// What a device is called here.
  std::function<std::string(const tune::device&)> device_name;

  tune::tuned_values operator()(const tune::remote_task& task);

  std::vector<made_trial> made() const;
  /// The configurations of all trials, each as often as it was tried.
  std::multiset<int> tried() const;
  std::set<std::string> devices_used() const;

 private:
  tune::tuned_values search(const tune::remote_task& task, int stage);
  std::vector<int> choose(const tune::remote_task& task,
                          const std::map<int, tune::trial>& known) const;
  tune::trial try_out(const tune::remote_task& task, int n);

  mutable std::mutex mutex_;
  std::vector<made_trial> made_;
};

/// A function of which simulated_tuner knows.
tune::function_identity simulated_function(const std::string& name = "simulated");
std::vector<tune::named_value> simulated_key(int rows);

/// Devices that are alike, whose names for simulated_tuner are "a", "b", ...
class equal_devices {
 public:
  explicit equal_devices(std::size_t count);

  const std::vector<tune::device>& all() const noexcept { return all_; }
  std::string name(const tune::device& of) const;

 private:
  std::vector<tune::testing::fake_device> fakes_;
  std::vector<tune::device> all_;
};

}  // namespace pretuned
