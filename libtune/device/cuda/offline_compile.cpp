// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/cuda/nvrtc.hpp"

namespace tune::cuda {
namespace {

// "NVRTC 12.4 sm_90 --std=c++17": 12; 0 where it says something else.
int major_version_in(std::string_view identity) {
  constexpr std::string_view before = "NVRTC ";
  int major = 0;
  if (identity.starts_with(before)) {
    identity.remove_prefix(before.size());
    std::from_chars(identity.data(), identity.data() + identity.size(), major);
  }
  return major;
}

const nvrtc& compiler_for(compute_capability device, const std::string& identity) {
  // A process that compiles for others does so for one version: the first that is asked for.
  static const nvrtc* const loaded = new nvrtc(major_version_in(identity));
  if (!loaded->absence().empty()) throw error(loaded->absence());
  if (loaded->identity_for(device) != identity) {
    throw error("what compiles here is " + loaded->identity_for(device) + ", not " + identity);
  }
  return *loaded;
}

}  // namespace

std::vector<std::byte> compile_for(compute_capability device, const std::string& identity,
                                   const program_source& source) {
  return compiler_for(device, identity).compile_to_cubin(source, device);
}

void prepare_compiler_for(compute_capability device, const std::string& identity) {
  // The first program of a process takes the compiler longer than the others.
  compile_for(device, identity,
              {.name = "prepare", .text = "__global__ void prepare() {}", .options = {}});
}

}  // namespace tune::cuda
