// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The value of an environment variable before an OpenCL loader cut it, or `now` if the present
/// value has another cause. The Khronos loader (CUDA's libOpenCL.so among others) splits
/// OCL_ICD_FILENAMES and OPENCL_LAYERS in place, by writing zeros over their colons. A child with
/// the present environment would see only the first name of each, and would not find the devices of
/// the other platforms.
/// @param first  the value when this library was loaded; empty if it was not set
/// @param now    the present value
std::string uncut_list(const std::optional<std::string>& first, std::string_view now);

/// The environment for a child, as "NAME=value": this process's environment, with the lists that an
/// OpenCL loader has cut restored, and with `variables` replacing those of the same names. No other
/// thread may change the environment during the call.
std::vector<std::string> environment_of_child(std::span<const std::string> variables = {});

/// The descriptors of a socket that a child inherits.
struct inherited_socket {
  int parent;  ///< in this process
  int child;   ///< in the child: zero for its standard input, otherwise from three on
};

/// Starts a program by exec. It inherits only the socket and standard error. Its standard output
/// goes to standard error too, so that output of compilers does not mix with the application's; its
/// standard input is /dev/null unless it is the socket. Signals that the application blocks or
/// ignores are as in a new program. The child leads a process group: a terminal's interrupt reaches
/// the application only, and killing the group ends compilers that the child has started.
/// @param program    a path
/// @param arguments  all arguments, argv[0] first
/// @returns the process id, for which the caller waits
/// @throws std::system_error if the program cannot be run
::pid_t spawn(const std::string& program, std::vector<std::string> arguments,
              std::vector<std::string> environment, inherited_socket socket);

}  // namespace tune::detail
