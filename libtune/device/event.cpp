// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/event.hpp"

#include "libtune/device/interface.hpp"

namespace tune {

void event::wait() const { impl_->wait(); }

bool event::is_complete() const { return impl_->is_complete(); }

std::chrono::nanoseconds event::duration() const { return impl_->duration(); }

std::chrono::nanoseconds event::time_since(const event& prior) const {
  return impl_->time_since(*prior.impl_);
}

}  // namespace tune
