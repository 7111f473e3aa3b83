// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "libtune/extra/ahead/communicator.hpp"

namespace tune::detail {

/// The ranks and the function that need MPI.
struct mpi_meeting {
  std::function<void(std::size_t rank, std::size_t size, const communicator::all_gather& gather)>
      meet{};
};

/// The only function of libtune_mpi.so: initialises MPI, unless the program has, calls meet with an
/// all_gather over all ranks, and finalises MPI if it has initialised it.
/// @param failure  receives the reason of a failure
using mpi_run_function = void (*)(const mpi_meeting& meeting, std::string& failure);
inline constexpr const char* mpi_run_name = "libtune_mpi_run";

}  // namespace tune::detail
