// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// The metric of a trial that failed for lack of device memory: the limit of the search at that
/// time, in bytes.
inline constexpr const char* memory_limit_metric = "memory_limit";

/// Returns the quota of a tuning in this process: the value of the option; else the memory that is
/// free on the device now less a reserve for the application, a quarter of it, and at least 256 MiB
/// or, on a small device, a 64th of its memory.
std::shared_ptr<memory_quota> make_quota(const context& context,
                                         const std::optional<memory_budget>& given);

/// The quota of the tuning of this thread, nested or not; else a new quota.
std::shared_ptr<memory_quota> current_quota(const context& context,
                                            const std::optional<memory_budget>& given);

/// Removes trials that failed for lack of memory if the search may hold more now: they are tried
/// again.
void erase_short_of_memory(std::vector<trial>& trials, const memory_quota& now);

/// True for a trial that failed for lack of memory.
bool is_short_of_memory(const trial& item);

/// Returns the reason for a search without times, if more memory may help: the first reason of
/// those trials that failed for lack of memory. Empty without one.
std::string find_want_of_memory(const std::vector<trial>& trials);

}  // namespace tune::detail
