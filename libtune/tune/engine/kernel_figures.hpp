// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

/// Returns what a configuration's kernels take of the device, as far as the driver tells:
///
///   registers             of a work item
///   local_memory          B of a work group, as declared
///   dynamic_local_memory  B of a work group, as launches ask for it
///   private_memory        B of a work item, spilled registers included
///   work_groups_per_unit  work groups that a compute unit runs at the same time
///   occupancy             the work items of these, of those that a compute unit can run: 0 to 1
///   binary_size           B of the machine code of the programs
///
/// Of several kernels the figure is that of the one that takes the most, and the least of
/// work_groups_per_unit and occupancy; those of each follow as registers_of_<kernel> and so on, in
/// lower case. The kernels are those that were launched while the queue recorded; before there is
/// one, those that were created, with the work group that they require or that is asked for.
/// @param programs  whose launches are recorded (detail::program_interface::record_launches)
/// @param asked     the resources that the author declares; empty if none
/// @throws device_error
std::vector<metric> kernel_figures(std::span<const program> programs,
                                   const std::optional<resources>& asked);

}  // namespace tune
