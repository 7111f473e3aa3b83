// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
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

/// A key that an application uses without a result of its own.
struct behind_request {
  std::string name{};  ///< detail::tuning_name
  /// Its key is skipped once the autotuner has been destroyed.
  std::weak_ptr<const autotuner_core> function{};
  tune::context context;
  std::vector<named_value> key{};
  /// The resolved options of the call; their observers receive the events of the search.
  tuning_options options{};
  std::string text{};  ///< the text for users
  double gain = 1;     ///< the expected gain of a search, 1 if the test default is used
};

/// Tunes the keys of this process behind it, one after the other, in one thread and one child
/// process that live until the end of the process. The thread starts with the first key.
/// Thread-safe.
class background_tuner {
 public:
  static background_tuner& shared();

  /// Requests the tuning of a key, unless it has been given up in this process. Does not wait.
  /// @returns false if it will not be tuned
  bool ask(behind_request wanted) noexcept;

  behind_summary report();
  bool wait(std::chrono::milliseconds longest);

  /// Ends the child, so that it releases its device memory, for this time; then its search
  /// continues. Does not wait. For an application whose allocation has failed.
  void give_memory_back(std::chrono::milliseconds pause) noexcept;

 private:
  struct state;
  background_tuner();
  friend class never_destroyed<background_tuner>;

  state& state_;  // never destroyed
};

}  // namespace tune::detail
