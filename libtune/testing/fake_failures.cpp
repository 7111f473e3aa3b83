// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_failures.hpp"

#include <utility>

namespace tune::testing {

void fake_failures::fail_next(fake_call call, std::size_t nth, fake_failure failure) {
  if (nth == 0) throw argument_error("calls are counted from 1: the next call is number 1");
  const std::lock_guard lock(mutex_);
  rules_.push_back({call, nth, nullptr, std::move(failure)});
}

void fake_failures::fail_when(fake_call call, predicate fits, fake_failure failure) {
  if (call != fake_call::compile && call != fake_call::create_kernel && call != fake_call::launch) {
    throw argument_error(
        "only compile, create_kernel and launch have a program whose macros could be looked at; "
        "use fail_next");
  }
  const std::lock_guard lock(mutex_);
  rules_.push_back({call, 0, std::move(fits), std::move(failure)});
}

void fake_failures::clear() {
  const std::lock_guard lock(mutex_);
  rules_.clear();
  stuck_.reset();
}

std::size_t fake_failures::calls(fake_call call) const {
  const std::lock_guard lock(mutex_);
  return calls_.at(static_cast<std::size_t>(call));
}

std::optional<fake_failure> fake_failures::count(fake_call call, const fake_macros* macros) {
  const std::lock_guard lock(mutex_);
  ++calls_.at(static_cast<std::size_t>(call));
  const rule* due = find_due(call, macros);
  if (stuck_) return stuck_;
  if (due == nullptr) return std::nullopt;
  if (due->failure.sticky) stuck_ = due->failure;
  return due->failure;
}

std::optional<fake_failure> fake_failures::stuck() const {
  const std::lock_guard lock(mutex_);
  return stuck_;
}

// Every countdown goes on even if an earlier rule is due: each was asked for on its own.
const fake_failures::rule* fake_failures::find_due(fake_call call, const fake_macros* macros) {
  const rule* due = nullptr;
  for (rule& item : rules_) {
    if (item.call != call) continue;
    const bool fails = item.fits ? macros != nullptr && item.fits(*macros)
                                 : item.countdown > 0 && --item.countdown == 0;
    if (fails && due == nullptr) due = &item;
  }
  return due;
}

}  // namespace tune::testing
