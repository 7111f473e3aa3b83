// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "libtune/measure/measure.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/verify/answer.hpp"

namespace tune {

namespace detail {
std::shared_ptr<run_check> make_run_check(std::shared_ptr<operation> operation, workload work,
                                          answer expected);
}

/// Measures an operation on the arrays of a workload, and has it checked against an answer:
///
/// 1. Arrays without contents are poisoned with bytes that are NaN to floats, and it is run. So a
///    kernel that writes nothing, or not all, does not pass.
/// 2. Nothing may have been written into the guard bands around its arrays.
/// 3. Its arrays are compared with the answer, by the names of their slots. Those of a sequence
///    count too where they are hidden.
/// 4. It is run again, on the same inputs and another poison, which shows what reads or leaves what
///    it should not: the judged arrays have to have the same bits, or, of what is
///    nondeterministic, be as right as before.
///
/// With an empty answer it is run once, and only the guard bands are looked at. The operation's
/// unbound slots are bound by this. Slots that have an answer, or that a function judges, are bound
/// to the workload's arrays, or a part of a slot that is: other memory could not be poisoned
/// without harm to what it holds, nor guarded. An operation that reads its output has contents for
/// it in the workload, or a reset function, which is called after the poison.
/// @throws argument_error that names the slot if such a slot was bound to another array, here or
///         before a checked run; what workload::bind throws
template <std::derived_from<operation> Operation>
measure make_measure(tuning_command_queue queue, Operation op, workload work, answer expected) {
  auto kept = std::make_shared<Operation>(std::move(op));
  work.bind(*kept);
  return make_measure(std::move(queue), std::function<void()>([kept] { kept->run(); }))
      .check_runs(detail::make_run_check(kept, std::move(work), std::move(expected)));
}

/// Does the same at once, to an operation that is not measured: on an odd shape, say, beside the
/// one that is. Returns what is wrong. @throws argument_error as make_measure, whatever the
/// operation or the device throws
std::optional<std::string> find_fault(operation& op, workload work, const answer& expected);

/// Runs a trusted operation on the arrays of a workload, and takes some of its outputs as the
/// answer. It is run through the same door as what it judges: same inputs, poison and guard bands.
/// @throws argument_error if it has no such array, one is not the workload's or has an answer
///         already; error if it writes out of bounds; device_error
void take_answer(answer& expected, workload work, operation& trusted,
                 std::initializer_list<std::string> outputs, const tolerance& allowed = {});

}  // namespace tune
