// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/notify.hpp"

#include <exception>
#include <string>

#include "libtune/base/log.hpp"

namespace tune {

void notify(std::span<const std::shared_ptr<observer>> observers,
            const std::function<void(observer&)>& call) noexcept {
  for (const auto& listener : observers) {
    try {
      call(*listener);
    } catch (const std::exception& failure) {
      log(log_level::error, std::string("an observer failed: ") + failure.what());
    } catch (...) {
      log(log_level::error, "an observer failed");
    }
  }
}

}  // namespace tune
