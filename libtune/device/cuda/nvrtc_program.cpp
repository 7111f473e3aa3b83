// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/nvrtc_program.hpp"

#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune::cuda {

nvrtc_program::nvrtc_program(const nvrtc_api& api, const program_source& source)
    : api_(api), source_(source) {
  const nvrtcResult result =
      api_.create_program(&handle_, source.text.c_str(), source.name.c_str(), 0, nullptr, nullptr);
  if (result != NVRTC_SUCCESS) {
    const std::string reason = api_.get_error_string(result);
    throw build_error(fmt::format("NVRTC does not take '{}': {}", source.name, reason), reason);
  }
}

nvrtc_program::~nvrtc_program() { api_.destroy_program(&handle_); }

nvrtcResult nvrtc_program::compile(const std::vector<std::string>& options) {
  std::vector<const char*> texts;
  texts.reserve(options.size());
  for (const std::string& option : options) texts.push_back(option.c_str());
  return api_.compile_program(handle_, static_cast<int>(texts.size()), texts.data());
}

std::vector<std::byte> nvrtc_program::cubin() const {
  std::size_t size = 0;
  nvrtcResult result = api_.get_cubin_size(handle_, &size);
  std::vector<std::byte> binary(size);
  if (result == NVRTC_SUCCESS && size > 0) {
    result = api_.get_cubin(handle_, reinterpret_cast<char*>(binary.data()));
  }
  if (result != NVRTC_SUCCESS || size == 0) {
    throw build_error(fmt::format("NVRTC made no machine code of '{}'; compile it for a real "
                                  "architecture (sm_90, not compute_90)",
                                  source_.name),
                      log());
  }
  return binary;
}

std::string nvrtc_program::log() const {
  std::size_t size = 0;
  if (api_.get_log_size(handle_, &size) != NVRTC_SUCCESS || size <= 1) return {};
  std::string text(size, '\0');
  if (api_.get_log(handle_, text.data()) != NVRTC_SUCCESS) return {};
  text.resize(size - 1);  // it ends with a null character
  return text;
}

void nvrtc_program::throw_build_error(nvrtcResult result, const std::string& version,
                                      const std::string& architecture) const {
  std::string text = log();
  if (text.empty()) text = api_.get_error_string(result);
  throw build_error(fmt::format("'{}' does not compile for {} with NVRTC {}:\n{}", source_.name,
                                architecture, version, text),
                    text);
}

}  // namespace tune::cuda
