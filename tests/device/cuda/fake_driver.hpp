// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A CUDA driver that exists on the host alone: memory is the host's, commands run while they are
// enqueued, and the kernels of conformance.kernel are host functions, whatever the machine code
// says, with a factor of 1. It is strict where a real driver may be lenient: a call that needs a
// current context fails without, and times run forwards only. The kernels of fill.kernel are that
// very text, compiled for the host.
#pragma once

#include <map>
#include <string>

#include "libtune/device/cuda/driver.hpp"

namespace fake_cuda {

/// The behaviour of the driver, and the state of what it handed out. One test at a time uses it.
struct behaviour {
  std::string missing;                       ///< a function that it does not have
  std::map<std::string, CUresult> failures;  ///< what functions return instead of working
  bool refuses_rectangles_within_device = false;
  bool refuses_rows = false;  ///< of cuMemsetD2D*
  bool is_shut_down = false;  ///< as at the end of a process: its functions do nothing but say so
  bool is_silent = false;     ///< counts nothing, fails nothing, and takes no lock
  unsigned last_cluster = 0;  ///< the groups in each, of the last launch in clusters
  int early_launches = 0;     ///< those that may begin before the kernel ahead of them has ended
  unsigned multiprocessors = 132;  ///< that green contexts can have, in groups of eight
  int generation = 9;              ///< the major number of the devices' compute capability
};

behaviour& settings();

/// The number of objects of all kinds that exist, but for primary contexts.
int live_objects();

/// Returns the number of calls of a function since the last reset.
int calls(const std::string& function);

/// Default behaviour and no counts.
void reset();

/// Its cuGetProcAddress.
PFN_cuGetProcAddress_v12000 get_proc_address();

/// Its entry points, resolved.
const tune::cuda::driver_api& api();

}  // namespace fake_cuda
