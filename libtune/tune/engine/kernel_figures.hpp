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

/// Returns the resources that a configuration's kernels use on the device, if the driver gives
/// them:
///
///   registers             of a work item
///   local_memory          B of a work group, as declared
///   dynamic_local_memory  B of a work group, as launches ask for it
///   private_memory        B of a work item, spilled registers included
///   work_groups_per_unit  work groups that a compute unit runs at the same time
///   occupancy             work items of these, of the most that a compute unit can run: 0 to 1
///   binary_size           B of the machine code of the programs
///
/// For several kernels the figure is the largest, or for work_groups_per_unit and occupancy the
/// smallest; the figures of each follow as registers_of_<kernel> and so on, in lower case. The
/// kernels are those launched while the queue recorded; before the first launch, those created,
/// with the work group that they require or that the author declares.
/// @param programs  their launches are recorded (detail::program_interface::record_launches)
/// @param asked     the resources that the author declares, if any
/// @throws device_error
std::vector<metric> kernel_figures(std::span<const program> programs,
                                   const std::optional<resources>& asked);

}  // namespace tune
