// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/background_load.hpp"

#include <utility>

#include "libtune/base/error.hpp"

namespace tune {

background_load::background_load(std::function<void()> step) {
  if (!step) throw argument_error("a background load needs a function to run");
  step();
  ++steps_;
  thread_ = std::thread([this, step = std::move(step)] { work(step); });
}

background_load::~background_load() {
  ends_ = true;
  thread_.join();
}

void background_load::work(const std::function<void()>& step) noexcept {
  try {
    for (; !ends_; ++steps_) step();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
}

void background_load::check() const {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace tune
