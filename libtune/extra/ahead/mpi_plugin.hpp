// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "libtune/extra/ahead/communicator.hpp"

namespace tune::detail {

/// A call that needs MPI.
struct mpi_meeting {
  std::function<void(std::size_t rank, std::size_t size, const communicator::all_gather& gather)>
      meet{};
};

/// The one function of libtune_mpi.so: initialises MPI, unless that has been done, calls meet with
/// an all_gather over all ranks, and finalises what it has initialised.
/// @param failure  gets the reason why it failed, if it did
using mpi_run_function = void (*)(const mpi_meeting& meeting, std::string& failure);
inline constexpr const char* mpi_run_name = "libtune_mpi_run";

}  // namespace tune::detail
