// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/order_compiler.hpp"

#include <map>
#include <string>
#include <tuple>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/opencl/backend.hpp"
#include "libtune/kernel/pool/compiler_chatter.hpp"

namespace tune::worker {
namespace {

using detail::compile_order;
using detail::compile_target;

/// The same device here as there.
const context& opencl_context(const compile_target& target) {
  static detail::never_destroyed<
      std::map<std::tuple<std::string, std::string, std::string>, context>>
      opened;
  const std::tuple key{target.platform, target.device, target.driver_version};
  auto found = opened->find(key);
  if (found == opened->end()) {
    const auto device = opencl::find_device(target.platform, target.device, target.driver_version);
    if (!device) throw error("the worker does not find the device '" + target.device + "'");
    found = opened->emplace(key, device->create_context()).first;
  }
  const std::string identity = found->second.compiler_identity();
  if (identity != target.compiler_identity) {
    throw error("what compiles in the worker is " + identity + ", not " + target.compiler_identity);
  }
  return found->second;
}

// What it has open it would have to open again elsewhere; so it moves only for those who ask.
void move_to(const std::string& folder) {
  if (!folder.empty() && ::chdir(folder.c_str()) != 0) {
    throw error("the worker cannot go to the folder '" + folder + "'");
  }
}

compile_result compile(const compile_order& order) {
  move_to(order.folder);
  compile_result result{.what = compile_result::status::built};
  const compile_target& target = order.target;
  if (target.backend == "CUDA") {
    result.binary =
        cuda::compile_for(target.compute_capability, target.compiler_identity, order.source);
  } else if (target.backend == "OpenCL") {
    const compiler_chatter kept_back;
    result.binary = opencl::compile_to_binary(opencl_context(target), order.source, order.launches);
  } else {
    throw error("no worker compiles for " + target.backend);
  }
  if (result.binary.empty()) throw error("the driver hands out no binary");
  return result;
}

void prepare(const compile_target& target) {
  if (target.backend == "CUDA") {
    cuda::prepare_compiler_for(target.compute_capability, target.compiler_identity);
  } else if (target.backend == "OpenCL") {
    opencl_context(target);
  }
}

}  // namespace

trade order_compiler() { return {.prepare = prepare, .compile = compile}; }

}  // namespace tune::worker
