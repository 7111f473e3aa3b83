// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libtune/device/cuda/nvrtc.hpp"

namespace tune::cuda {

/// One source in the compiler; it may be compiled again with other options. Not thread-safe.
class nvrtc_program {
 public:
  /// Both outlive the program. @throws build_error
  nvrtc_program(const nvrtc_api& api, const program_source& source);
  nvrtc_program(const nvrtc_program&) = delete;
  nvrtc_program& operator=(const nvrtc_program&) = delete;
  ~nvrtc_program();

  nvrtcResult compile(const std::vector<std::string>& options);

  /// The machine code, after success. @throws build_error
  std::vector<std::byte> cubin() const;

  /// What the compiler printed about the last compile.
  std::string log() const;

  [[noreturn]] void throw_build_error(nvrtcResult result, const std::string& version,
                                      const std::string& architecture) const;

 private:
  const nvrtc_api& api_;
  const program_source& source_;
  nvrtcProgram handle_ = nullptr;
};

}  // namespace tune::cuda
