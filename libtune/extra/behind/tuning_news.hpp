// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {

/// A verified tuning that has become the result of a key while the program runs.
struct better_tuning {
  function_identity function{};
  record_key key{};
  std::vector<named_value> values{};
  std::optional<run_time> score{};  ///< the time in the search that found it, if known
};

/// Passes new results of a key to the users of its tuning, within a process. Thread-safe.
class tuning_news {
 public:
  using listener = std::function<void(const better_tuning&)>;

  /// One listener, until this object is destroyed. After that the listener is not running, unless
  /// the listener itself destroys this object.
  class subscription {
   public:
    subscription() = default;
    ~subscription() { end(); }
    subscription(subscription&& other) noexcept = default;
    subscription& operator=(subscription&& other) noexcept;
    subscription(const subscription&) = delete;
    subscription& operator=(const subscription&) = delete;

    void end() noexcept;

   private:
    friend class tuning_news;
    class state;
    explicit subscription(std::shared_ptr<state> shared) : state_(std::move(shared)) {}

    std::shared_ptr<state> state_;
  };

  static tuning_news& shared();

  /// @param hears  called with each result of this function, name and version, for this key, on
  ///               the thread that publishes it, which is not sealed. Does not throw
  [[nodiscard]] subscription subscribe(const function_identity& function, const record_key& key,
                                       listener hears);

  /// Calls the listeners of the function and the key, one after the other.
  void publish(const better_tuning& found);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<subscription::state>> listeners_;
};

}  // namespace tune
