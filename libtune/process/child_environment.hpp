// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// What a child process finds in its environment, as "NAME=value": what this process has, but with
/// the lists that an OpenCL loader has cut in this process as they were before; and `variables` in
/// place of what has their names. Not to be called while another thread changes the environment.
///
/// The Khronos loader (CUDA's libOpenCL.so among others) takes OCL_ICD_FILENAMES and OPENCL_LAYERS
/// apart where they lie, by writing zeros over their colons: what this process then starts sees the
/// first name of each alone, and finds no device of the other platforms.
std::vector<std::string> environment_of_child(std::span<const std::string> variables);

/// The value of such a list before it was cut, or what it is `now`, if something else has happened
/// to it.
/// @param first  what it was when this library was loaded; nothing if it was not set
std::string uncut_list(const std::optional<std::string>& first, std::string_view now);

}  // namespace tune::detail
