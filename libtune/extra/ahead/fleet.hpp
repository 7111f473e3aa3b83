// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Pretuning with several ranks. One of them leads: it runs pretune with the devices of all ranks,
// and hands the work of a distant device to its rank, which does it in a child of its own. So the
// leading rank stores all trials and results, keys are divided among the devices of all ranks as
// among those of one machine, and a lost rank loses only the trial that it was measuring.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/extra/ahead/communicator.hpp"
#include "libtune/extra/ahead/group_work.hpp"
#include "libtune/extra/ahead/pretuning.hpp"

namespace tune {

/// Runs pretune with ranks, and with a given function to tune instead of child processes of a
/// program.
std::vector<pretuning_result> pretune_with_ranks(communicator& ranks, const remote_tuner& tune,
                                                 std::span<const pretuning_item> items,
                                                 std::span<const device> devices,
                                                 const pretuning_options& options,
                                                 const tuning_refusal& refuses);

/// The devices that a rank may use, and its machine.
struct rank_devices {
  std::string machine{};
  std::vector<device_info> devices{};
};

/// Divides devices among ranks: a device that several ranks of a machine may use goes to the rank
/// with the fewest so far. A rank without a device of its own shares one.
/// @returns for each rank the indices of its devices in the list of its usable devices
std::vector<std::vector<std::size_t>> divide_devices(std::span<const rank_devices> ranks);

}  // namespace tune
