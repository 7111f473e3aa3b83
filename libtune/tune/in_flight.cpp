// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/in_flight.hpp"

#include <exception>

#include "libtune/base/error.hpp"

namespace tune {

in_flight::values in_flight::share(const std::string& key, const std::function<values()>& make) {
  std::promise<values> promise;
  {
    std::unique_lock lock(mutex_);
    const auto known = flights_.find(key);
    if (known != flights_.end()) {
      const flight shared = known->second;
      lock.unlock();
      if (shared.maker == std::this_thread::get_id()) {
        throw argument_error(
            "an autotune function asks for its own result while it is tuning; construct the "
            "template with the tuning that it was given");
      }
      return shared.result.get();
    }
    flights_.emplace(key, flight{std::this_thread::get_id(), promise.get_future().share()});
  }
  const auto land = [&] {
    const std::lock_guard lock(mutex_);
    flights_.erase(key);
  };
  try {
    values made = make();
    land();
    promise.set_value(made);
    return made;
  } catch (...) {
    land();
    promise.set_exception(std::current_exception());
    throw;
  }
}

}  // namespace tune
