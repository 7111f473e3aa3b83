// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The captured contents of a configuration.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/device/command_queue.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/verify/answer.hpp"

namespace tune::detail {

/// Slots, and the slot in whose memory each lies.
using shared_memory = std::vector<std::pair<std::string, std::string>>;

/// Binds an operation to a workload, with these slots in the memory of others.
/// @throws as workload::bind; argument_error if a slot does not fit the memory
void bind_shared(operation& of, workload& work, const shared_memory& shared);

/// An operation of a configuration with captured contents of its shapes.
struct configuration_part {
  std::shared_ptr<operation> of;  ///< its unbound slots are bound to the workload
  workload work;                  ///< with a set of inputs for each contents
  answer expected;                ///< for each set
  std::string first;  ///< the name of the contents that are the author's of the workload
  shared_memory shared{};
};

/// Makes the measure of a configuration that is checked with all captured contents and then by its
/// author, and timed with the captured contents by their weights.
/// @param queue   of all operations
/// @param author  the measure that the author has made; its declared work is not that of captured
///                shapes, so it is left out
measure measure_with(const tuning_command_queue& queue, std::vector<configuration_part> parts,
                     measure author);

}  // namespace tune::detail
