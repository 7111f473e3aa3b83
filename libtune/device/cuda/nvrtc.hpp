// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// NVIDIA's run-time compiler, loaded while the program runs. It needs no device and no driver.
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

// X(member, function): what libnvrtc has to offer.
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

/// The compiler, or why there is none. Thread-safe.
class nvrtc {
 public:
  /// Looks for the library, that of this CUDA major version first: the driver loads best what a
  /// compiler of its own age has made. 0: the newest.
  explicit nvrtc(int preferred_major = 0);

  /// Why it cannot be used; empty if it can. Without it no other function may be called.
  const std::string& absence() const noexcept { return absence_; }

  /// As CUDA counts: 1000 major + 10 minor.
  int version() const noexcept { return version_; }

  /// Returns the architecture to compile for: "sm_90"; the newest one whose code the device runs,
  /// where this compiler is older than the device.
  std::string architecture_for(compute_capability device) const;

  /// True if it compiles for exactly this generation.
  bool knows(compute_capability device) const;

  /// This compiler, what it compiles for on a device, libtune's own options and the version of the
  /// toolkit's headers, if they are there: "NVRTC 12.4 sm_90 --std=c++17 --minimal headers 12.4.1".
  std::string identity_for(compute_capability device) const;

  /// Compiles to machine code, with the source's options and libtune's own:
  ///   --gpu-architecture and --std=c++17, unless the source sets them
  ///   --minimal, which saves time: a source that does not compile with it is compiled again
  ///   without. The option "--minimal=false", which NVRTC does not have, keeps it out.
  ///   a macro that keeps it from warning of vector types that the preamble uses
  ///   "--kernel-name=EXPRESSION", which NVRTC does not have either: a kernel that is called for by
  ///   a C++ expression, such as an instance of a template, and that is found by it (read_symbols)
  ///   --no-cache, because NVRTC's own cache on disk would make compile times meaningless
  ///   -I with the folders of the toolkit's headers, after the source's own, and what makes the
  ///   compiler report the files that it reads, where the source may include any
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
  /// True if the log refuses an option of libtune's own, which is then not used again.
  bool learn_unknown_option(std::string_view log) const;

  shared_library library_;
  nvrtc_api api_;
  std::string absence_;
  int version_ = 0;
  std::vector<int> architectures_;  // in ascending order
  std::string headers_;             // the folder of the toolkit's headers; empty: not found
  std::string headers_version_;
  // Options that an older compiler does not know; learned when it refuses them.
  mutable std::atomic<bool> knows_no_cache_{true};
  mutable std::atomic<bool> knows_minimal_{true};
  mutable std::atomic<bool> knows_trace_{true};
};

/// The compiler that fits the driver, loaded once in the life of the process. Thread-safe.
const nvrtc& default_nvrtc();

}  // namespace tune::cuda
