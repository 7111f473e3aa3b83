// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// NVIDIA's run-time compiler, loaded at run time. It needs no device and no driver.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/shared_library.hpp"
#include "libtune/device/cuda/driver.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/device/kernel.hpp"

// X(member, function): the functions that libnvrtc must have.
#define LIBTUNE_NVRTC_FUNCTIONS(X)                     \
  X(get_error_string, nvrtcGetErrorString)             \
  X(get_version, nvrtcVersion)                         \
  X(get_architecture_count, nvrtcGetNumSupportedArchs) \
  X(get_architectures, nvrtcGetSupportedArchs)         \
  X(create_program, nvrtcCreateProgram)                \
  X(destroy_program, nvrtcDestroyProgram)              \
  X(compile_program, nvrtcCompileProgram)              \
  X(get_log_size, nvrtcGetProgramLogSize)              \
  X(get_log, nvrtcGetProgramLog)                       \
  X(get_cubin_size, nvrtcGetCUBINSize)                 \
  X(get_cubin, nvrtcGetCUBIN)                          \
  X(add_name_expression, nvrtcAddNameExpression)       \
  X(get_lowered_name, nvrtcGetLoweredName)

namespace tune::cuda {

struct nvrtc_api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name cannot be put in parentheses
#define LIBTUNE_NVRTC_MEMBER(member, function) decltype(&::function) member = nullptr;
  LIBTUNE_NVRTC_FUNCTIONS(LIBTUNE_NVRTC_MEMBER)
#undef LIBTUNE_NVRTC_MEMBER
};

/// The compiler, or the reason for its absence. Thread-safe.
class nvrtc {
 public:
  /// Looks for the library, first in this CUDA major version, because the driver prefers code from
  /// a compiler of its own version. 0: the newest.
  explicit nvrtc(int preferred_major = 0);

  /// The reason for its absence; empty if it is usable. If it is absent, call no other function.
  const std::string& absence() const noexcept { return absence_; }

  /// The version in CUDA's form: 1000 major + 10 minor.
  int version() const noexcept { return version_; }

  /// Returns the target architecture: "sm_90"; if this compiler is older than the device, the
  /// newest one whose code the device can run.
  std::string architecture_for(compute_capability device) const;

  /// True if it can compile for exactly this generation.
  bool knows(compute_capability device) const;

  /// Returns this compiler, its target for a device, libtune's own options and the version of the
  /// toolkit's headers, if found: "NVRTC 12.4 sm_90 --std=c++17 --minimal headers 12.4.1".
  std::string identity_for(compute_capability device) const;

  /// Compiles to machine code, with the source's options and libtune's own:
  ///   --gpu-architecture and --std=c++17, unless the source sets them
  ///   --minimal, which saves time: if a source does not compile with it, it is compiled again
  ///   without. "--minimal=false", which NVRTC does not have, disables it
  ///   a macro against warnings of vector types that the preamble uses
  ///   "--kernel-name=EXPRESSION", which NVRTC does not have either: requests a kernel by a C++
  ///   expression, such as an instance of a template, by which it is later found (read_symbols)
  ///   --no-cache, because NVRTC's own cache on disk would make compile times meaningless
  ///   -I with the folders of the toolkit's headers, after the source's own, and options by which
  ///   the
  ///   compiler reports the files that it reads, if the source may include any
  /// @throws build_error with the compiler's log
  compiled_program compile(const program_source& source, compute_capability device) const;
  std::vector<std::byte> compile_to_cubin(const program_source& source,
                                          compute_capability device) const {
    return compile(source, device).binary;
  }

 private:
  void load(const std::vector<std::string>& names);
  void find_headers();
  std::vector<std::string> include_options() const;
  included_files read_trace(const std::string& trace, const program_source& source,
                            std::filesystem::file_time_type since) const;
  /// True if the log refuses one of libtune's own options, which is then not used again.
  bool learn_unknown_option(std::string_view log) const;

  shared_library library_;
  shared_library builtins_;
  nvrtc_api api_;
  std::string absence_;
  int version_ = 0;
  std::vector<int> architectures_;  // in ascending order
  std::string headers_;             // the folder of the toolkit's headers; empty: not found
  std::string headers_version_;
  // Options that an older compiler may refuse; cleared when it does.
  mutable std::atomic<bool> knows_no_cache_{true};
  mutable std::atomic<bool> knows_minimal_{true};
  mutable std::atomic<bool> knows_trace_{true};
};

/// The compiler for the driver, loaded by the first call. Thread-safe.
const nvrtc& default_nvrtc();

}  // namespace tune::cuda
