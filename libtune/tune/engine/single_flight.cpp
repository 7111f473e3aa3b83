// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/single_flight.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <thread>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"

namespace tune {

struct single_flight::flight {
  const std::thread::id maker = std::this_thread::get_id();
  std::promise<values> promise{};
  const std::shared_future<values> result = promise.get_future().share();
  std::size_t followers = 0;
};

single_flight::single_flight() = default;
single_flight::~single_flight() = default;

std::optional<single_flight::values> single_flight::share(const std::string& key,
                                                          const std::function<values()>& make,
                                                          std::chrono::milliseconds wait,
                                                          const wait_look& look) {
  std::shared_ptr<flight> joined;
  std::shared_ptr<flight> own;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<flight>& known = flights_[key];
    if (known) {
      if (known->maker == std::this_thread::get_id()) {
        throw argument_error(
            "an autotune function asks for its own result while it is tuning; construct the "
            "template with the tuning that it was given");
      }
      joined = known;
      ++joined->followers;
    } else {
      own = known = std::make_shared<flight>();
    }
  }
  if (joined) return follow(*joined, wait, look);
  return lead(key, *own, make);
}

std::size_t single_flight::followers(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto known = flights_.find(key);
  return known == flights_.end() ? 0 : known->second->followers;
}

std::optional<single_flight::values> single_flight::follow(flight& joined,
                                                           std::chrono::milliseconds wait,
                                                           const wait_look& look) {
  struct counted {
    single_flight& flights;
    flight& joined;
    ~counted() {
      if (detail::is_forked()) return;
      const std::lock_guard lock(flights.mutex_);
      --joined.followers;
    }
  } const follower{*this, joined};
  constexpr std::chrono::milliseconds between_looks{50};
  detail::wait_clock clock;
  for (auto waited = clock.elapsed();; waited = clock.elapsed()) {
    const auto pause = std::min<std::chrono::nanoseconds>(between_looks, wait - waited);
    if (joined.result.wait_for(std::max(pause, std::chrono::nanoseconds::zero())) ==
        std::future_status::ready)
      break;
    if (waited >= wait) return std::nullopt;
    if (look) look(waited);
  }
  return joined.result.get();
}

single_flight::values single_flight::lead(const std::string& key, flight& own,
                                          const std::function<values()>& make) {
  try {
    values made = make();
    land(key, own);
    own.promise.set_value(made);
    return made;
  } catch (...) {
    land(key, own);
    own.promise.set_exception(std::current_exception());
    throw;
  }
}

void single_flight::land(const std::string& key, const flight& own) {
  if (detail::is_forked()) return;  // the maker has forked, and continues in both processes
  const std::lock_guard lock(mutex_);
  const auto known = flights_.find(key);
  if (known != flights_.end() && known->second.get() == &own) flights_.erase(known);
}

}  // namespace tune
