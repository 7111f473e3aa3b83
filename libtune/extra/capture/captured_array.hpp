// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Device arrays and the contents of files.
#pragma once

#include <optional>
#include <string>

#include "libtune/array/device_array.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/extra/capture/capture_reader.hpp"

namespace tune::detail {

/// The layout of a captured array, for elements of a type. @throws argument_error if its bytes are
/// fewer than the layout needs; type_error if the type has another name
array_layout captured_layout(const captured_slot& captured, element_type type);

/// Copies contents to memory, which is at least as large; chunk by chunk.
void write_contents(command_queue& queue, const buffer& to, const capture_reader& from,
                    const captured_contents& contents);

/// Sets an array of the captured shape, with any padding. Waits for the queue.
void set_array(command_queue& queue, const device_array& to, const captured_slot& captured,
               const capture_reader& from, const captured_contents& contents);

/// Makes an array of a built-in element type. @throws argument_error for other types
device_array make_array(command_queue& queue, const captured_slot& captured,
                        const capture_reader& from, const captured_contents& contents);

/// Compares an array of the captured shape, with any padding, bit by bit.
/// @returns the number of elements that differ, the place of the first, and both elements there
std::optional<std::string> array_difference(command_queue& queue, const device_array& got,
                                            const captured_slot& captured,
                                            const capture_reader& from,
                                            const captured_contents& contents);

}  // namespace tune::detail
