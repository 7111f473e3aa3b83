// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "libtune/device/fill.hpp"
#include "libtune/device/opencl/memory.hpp"

namespace tune::opencl {

/// The kernels of device/fill.kernel in a context, for internal use. Thread-safe: a lock covers
/// setting and using their arguments.
class fill_kernels {
 public:
  /// Compiles them. The context has to outlive them. @throws device_error, build_error
  explicit fill_kernels(const opencl_context& context);

  /// Enqueues a kernel. @param event  may be null
  void enqueue(cl_command_queue queue, cl_mem memory, const detail::fill_task& task,
               cl_event* event) const;

 private:
  const opencl_context& context_;
  std::vector<cl::Kernel> kernels_;  // in the order of detail::fill_kernel_names
  mutable std::mutex mutex_;         // for their arguments
};

/// Enqueues the one command of a fill, as described for queue_interface::do_fill: the driver's own
/// if possible, else a kernel. @throws device_error
void enqueue_fill(cl_command_queue queue, const opencl_buffer& buffer, const fill_region& region,
                  std::span<const std::byte> pattern, cl_event* event);

}  // namespace tune::opencl
