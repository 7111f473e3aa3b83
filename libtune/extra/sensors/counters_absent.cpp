// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces the counters in a library built without the backend.
#include "libtune/base/error.hpp"
#include "libtune/extra/sensors/counters.hpp"

namespace tune::cuda {
namespace {

[[noreturn]] void throw_absent() {
  throw no_device_error("CUDA cannot be used: excluded at configure time: " LIBTUNE_CUDA_ABSENCE);
}

}  // namespace

std::vector<metric> read_counters(const context&, const std::function<void()>&) { throw_absent(); }
std::vector<std::string> counter_names(const std::string&) { throw_absent(); }

}  // namespace tune::cuda
