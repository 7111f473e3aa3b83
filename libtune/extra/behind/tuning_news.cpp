// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/tuning_news.hpp"

#include <string>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"

namespace tune {

// The lock is held during the listener's call, which may end its own subscription or publish.
class tuning_news::subscription::state {
 public:
  state(std::string name, listener hears) : name_(std::move(name)), hears_(std::move(hears)) {}

  bool is_of(const std::string& name) const noexcept { return name_ == name; }
  void hear(const better_tuning& found) {
    const std::lock_guard lock(mutex_);
    if (!ended_) hears_(found);
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }

 private:
  const std::string name_;
  const listener hears_;
  std::recursive_mutex mutex_;
  bool ended_ = false;
};

tuning_news::subscription& tuning_news::subscription::operator=(subscription&& other) noexcept {
  end();
  state_ = std::move(other.state_);
  return *this;
}

void tuning_news::subscription::end() noexcept {
  if (state_) state_->end();
  state_.reset();
}

tuning_news& tuning_news::shared() {
  static detail::never_destroyed<tuning_news> news;
  return *news;
}

tuning_news::subscription tuning_news::subscribe(const function_identity& function,
                                                 const record_key& key, listener hears) {
  auto made = std::make_shared<subscription::state>(search_name(function, key), std::move(hears));
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const auto& each) { return each.expired(); });
  listeners_.push_back(made);
  return subscription(std::move(made));
}

void tuning_news::publish(const better_tuning& found) {
  const std::string name = search_name(found.function, found.key);
  std::vector<std::shared_ptr<subscription::state>> hearing;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& each : listeners_) {
      auto alive = each.lock();
      if (alive && alive->is_of(name)) hearing.push_back(std::move(alive));
    }
  }
  for (const auto& each : hearing) each->hear(found);
}

}  // namespace tune
