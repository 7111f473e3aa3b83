// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/version.hpp"

#include <atomic>

namespace tune {

std::uint64_t next_version() noexcept {
  static std::atomic<std::uint64_t> last{0};
  // Only the numbers have to be in order, nothing is published with them.
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace tune
