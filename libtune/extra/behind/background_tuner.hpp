// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/extra/behind/tuning_behind.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/options.hpp"

namespace tune::detail {

/// Names in the order in which they are worth work: by how often they were asked for, times what is
/// expected to be gained by one. A pure value.
class usage_queue {
 public:
  /// @param gain  positive; the latest one counts
  void ask(const std::string& name, double gain);
  /// Removes and returns the name that is worth most, the first of equals; empty if there is none.
  std::optional<std::string> next();
  std::size_t size() const noexcept { return names_.size(); }

 private:
  struct entry {
    std::string name;
    double asked = 0;
    double gain = 1;
  };
  std::vector<entry> names_;  // in the order in which they came
};

/// A key that an application uses without a result of its own.
struct behind_request {
  std::string name{};                              ///< detail::tuning_name
  std::weak_ptr<const autotuner_core> function{};  ///< it is not tuned once that has ended
  tune::context context;
  std::vector<named_value> key{};
  tuning_options options{};  ///< of the call, resolved; its observers hear of the search
  std::string text{};        ///< for people
  double gain = 1;           ///< what is expected of a search, 1 where the test default is used
};

/// Tunes the keys of this process behind it, one after the other, in one thread and one child
/// process that live until the end of the process. The thread starts with the first key.
/// Thread-safe.
class background_tuner {
 public:
  static background_tuner& shared();

  /// Has a key tuned, unless it has been given up in this process. Does not wait.
  /// @returns false if it will not be tuned
  bool ask(behind_request wanted) noexcept;

  behind_summary report();
  bool wait(std::chrono::milliseconds longest);

  /// Has the child end, and give back the memory of the device that it has, for so long; then its
  /// search goes on. Does not wait. For an application whose allocation has failed.
  void give_memory_back(std::chrono::milliseconds pause) noexcept;

 private:
  struct state;
  background_tuner();
  friend class never_destroyed<background_tuner>;

  state& state_;  // never destroyed
};

}  // namespace tune::detail
