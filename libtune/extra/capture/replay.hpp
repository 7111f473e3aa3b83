// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/device/command_queue.hpp"
#include "libtune/extra/capture/capture_reader.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/verify/answer.hpp"

namespace tune {

/// Makes the operation of a captured run again, with its sizes, scalars and tuning, by the
/// tune::remaker of its class; a sequence by those of its children. Its slots are not bound.
/// @throws argument_error if a class has no remaker in this program, or a parameter is missing; the
///         errors of the maker and of the compiler
std::unique_ptr<operation> make_again(const captured_call& call, const command_queue& queue);

/// Binds memory of its own to each slot of an operation, with the contents before the run; memory
/// without contents is filled with bytes of 0xFF. Slots that shared memory share it again.
/// @param of  as from make_again: with the slots of the captured operation, unbound
/// @throws argument_error if a slot is missing or differs; capture_file_error; device_error
void bind_captured(operation& of, const capture_reader& from, const captured_call& call);

/// Compares the slots of an operation with the contents after the captured run, bit by bit and
/// without padding. Slots that the run did not change have to be unchanged. Contents that are
/// unknown, because the pipeline declared them, are not compared. Waits for the queue.
/// @returns nothing if all are the same, else the first difference: the slot, the place, and both
///          elements
/// @throws argument_error, capture_file_error, device_error
std::optional<std::string> find_difference(operation& of, const capture_reader& from,
                                           const captured_call& call);

/// The outcome of the replay of one run.
enum class replay_outcome : std::uint8_t {
  same,       ///< the same bits
  different,  ///< other bits
  failed,     ///< it could not be made or run
};

/// "same", "different" or "failed".
std::string_view replay_outcome_name(replay_outcome outcome) noexcept;

/// One replayed run.
struct replayed_call {
  std::uint64_t frame = 0;  ///< the number of the frame
  std::string name;         ///< of the call
  std::string type;         ///< the class of the operation
  std::string device{};     ///< the name of the device that ran it; empty if none did
  replay_outcome outcome = replay_outcome::failed;
  std::string text{};  ///< the difference, or the reason for the failure
};

/// Makes the operation of a run again, runs it once on the captured contents, and compares. Does
/// not throw except std::bad_alloc: errors are an outcome.
replayed_call replay(const capture_reader& from, const captured_frame& frame,
                     const captured_call& call, const command_queue& queue);

/// Sets the contents of a workload to those before a captured run, for slots of built-in element
/// types. Slots without contents of their own are left out: those that share memory, aliases, and
/// those that the run overwrites. Contents that a run only writes need no contents either: with
/// them, a kernel that writes nothing is not found by the poison of a workload.
/// @param inputs_only  true to leave out slots that the run changed
/// @throws capture_file_error, device_error; argument_error for element types of the application
void set_captured(workload& work, const capture_reader& from, const captured_call& call,
                  bool inputs_only = false);

/// Adds the contents after a captured run to an answer, for each slot that the run changed.
/// @throws as set_captured; argument_error if a slot already has an answer
void add_captured(answer& expected, command_queue queue, const capture_reader& from,
                  const captured_call& call, const tolerance& allowed = {});

/// Adds a set of inputs to a workload for each captured run of this name, "frame 17", or with the
/// time of its frame if the workload has inputs of that name, with the contents before the run, an
/// answer with those after it, and the weight of its frame: a configuration is checked with all of
/// them, and timed by how often they came. The workload has contents of the author for the same
/// slots, of the same shapes, such as those of set_captured.
/// @param inputs_only  as in set_captured
/// @returns the number of sets
/// @throws as set_captured and add_captured; argument_error that lists the names if no frame has
///         a run of this name
std::size_t add_captured_inputs(workload& work, answer& expected, const capture_reader& from,
                                std::string_view call, const tolerance& allowed = {},
                                bool inputs_only = false);

}  // namespace tune
