// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Pretuning with several ranks. One of them leads: it does what pretune does, with devices of all
// ranks, and hands the work of a distant device to its rank, which carries it out in a child of its
// own. So trials and results are all stored by the one that leads, keys are divided
// among the devices of all ranks as among those of one machine, and a rank that is lost leaves
// nothing behind but the trial that it was measuring.
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

/// pretune with ranks, with another way to tune than child processes of a program.
std::vector<pretuning_result> pretune_with_ranks(communicator& ranks, const remote_tuner& tune,
                                                 std::span<const pretuning_item> items,
                                                 std::span<const device> devices,
                                                 const pretuning_options& options,
                                                 const tuning_refusal& refuses);

/// The devices that a rank may use, and the machine that it runs on.
struct rank_devices {
  std::string machine{};
  std::vector<device_info> devices{};
};

/// Divides devices among ranks: a device that several ranks of a machine may use goes to the one
/// that has the fewest so far. A rank for which none is left shares one of those that it may use.
/// @returns for each rank the places of its devices among those that it may use
std::vector<std::vector<std::size_t>> divide_devices(std::span<const rank_devices> ranks);

}  // namespace tune
