// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/nvrtc.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/cubin.hpp"
#include "libtune/device/cuda/driver.hpp"

namespace tune::cuda {
namespace {

// libtune's options, not NVRTC's:
constexpr std::string_view full_language = "--minimal=false";
constexpr std::string_view kernel_name = "--kernel-name=";

/// One source in the compiler; it may be compiled again with other options. Not thread-safe.
class nvrtc_program {
 public:
  /// Both outlive the program. @throws build_error
  nvrtc_program(const nvrtc_api& api, const program_source& source);
  nvrtc_program(const nvrtc_program&) = delete;
  nvrtc_program& operator=(const nvrtc_program&) = delete;
  ~nvrtc_program();

  nvrtcResult compile(const std::vector<std::string>& options);

  /// The machine code, after success, with the symbols of kernels that the source's options name.
  /// @throws build_error
  std::vector<std::byte> cubin() const;

  /// Returns the messages of the last compile.
  std::string log() const;

  [[noreturn]] void throw_build_error(nvrtcResult result, const std::string& version,
                                      const std::string& architecture) const;

 private:
  const nvrtc_api& api_;
  const program_source& source_;
  nvrtcProgram handle_ = nullptr;
};

nvrtc_program::nvrtc_program(const nvrtc_api& api, const program_source& source)
    : api_(api), source_(source) {
  const nvrtcResult result =
      api_.create_program(&handle_, source.text.c_str(), source.name.c_str(), 0, nullptr, nullptr);
  if (result != NVRTC_SUCCESS) {
    const std::string reason = api_.get_error_string(result);
    throw build_error(fmt::format("NVRTC does not take '{}': {}", source.name, reason), reason);
  }
  for (const std::string& option : source.options) {
    if (!option.starts_with(kernel_name)) continue;
    api_.add_name_expression(handle_, option.c_str() + kernel_name.size());
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
  kernel_symbols symbols;
  for (const std::string& option : source_.options) {
    if (!option.starts_with(kernel_name)) continue;
    const char* const expression = option.c_str() + kernel_name.size();
    const char* symbol = nullptr;
    if (api_.get_lowered_name(handle_, expression, &symbol) == NVRTC_SUCCESS) {
      symbols.emplace(expression, symbol);
    }
  }
  if (!symbols.empty()) append_symbols(binary, symbols);
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

constexpr std::string_view no_cache = "--no-cache";
constexpr std::string_view less_language = "--minimal";
constexpr std::string_view standard = "--std=c++17";
// CUDA 13 warns of long4, ulong4 and double4, which are to get other names; those are not portable.
constexpr std::string_view no_vector_warnings = "-D__NV_NO_VECTOR_DEPRECATION_DIAG";

// The system's search path, then where NVIDIA's own installer puts the toolkit.
std::vector<std::string> library_names(int preferred_major) {
  std::vector<int> majors{13, 12};
  if (preferred_major > 0) {
    std::erase(majors, preferred_major);
    majors.insert(majors.begin(), preferred_major);
  }
  std::vector<std::string> names;
  for (const int major : majors) {
    names.push_back(fmt::format("libnvrtc.so.{}", major));
    names.push_back(fmt::format("/usr/local/cuda-{}/lib64/libnvrtc.so.{}", major, major));
    names.push_back(fmt::format("/usr/local/cuda/lib64/libnvrtc.so.{}", major));
  }
  names.emplace_back("libnvrtc.so");
  return names;
}

bool sets(const std::vector<std::string>& options, std::string_view longer,
          std::string_view shorter) {
  return std::ranges::any_of(options, [&](const std::string& option) {
    return option.starts_with(longer) || option.starts_with(shorter);
  });
}

std::vector<std::string> base_options(const program_source& source,
                                      const std::string& architecture) {
  std::vector<std::string> options;
  if (!sets(source.options, "--gpu-architecture", "-arch")) {
    options.push_back("--gpu-architecture=" + architecture);
  }
  if (!sets(source.options, "--std", "-std")) options.emplace_back(standard);
  options.emplace_back(no_vector_warnings);
  std::ranges::copy_if(source.options, std::back_inserter(options), [](const std::string& option) {
    return option != full_language && !option.starts_with(kernel_name);
  });
  return options;
}

}  // namespace

nvrtc::nvrtc(int preferred_major) { load(library_names(preferred_major)); }

void nvrtc::load(const std::vector<std::string>& names) {
  std::string reason;
  for (const std::string& name : names) {
    library_ = shared_library(name.c_str());
    if (library_) break;
    if (reason.empty()) reason = library_.error();
  }
  if (!library_) {
    absence_ = fmt::format(
        "the compiler NVRTC is not installed ({}); install the cuda-nvrtc package that fits the "
        "driver",
        reason);
    return;
  }
#define LIBTUNE_NVRTC_FIND(member, symbol)                                       \
  api_.member = library_.function<decltype(&::symbol)>(#symbol);                 \
  if (api_.member == nullptr) {                                                  \
    absence_ = "the compiler NVRTC is too old: it lacks " #symbol "; update it"; \
    return;                                                                      \
  }
  LIBTUNE_NVRTC_FUNCTIONS(LIBTUNE_NVRTC_FIND)
#undef LIBTUNE_NVRTC_FIND
  int major = 0;
  int minor = 0;
  api_.get_version(&major, &minor);
  version_ = 1000 * major + 10 * minor;
  int count = 0;
  api_.get_architecture_count(&count);
  architectures_.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (!architectures_.empty()) api_.get_architectures(architectures_.data());
}

// Machine code runs on later devices of the same major version.
std::string nvrtc::architecture_for(compute_capability device) const {
  const int exact = 10 * device.major + device.minor;
  int best = exact;
  const auto last = std::ranges::upper_bound(architectures_, exact);
  if (last != architectures_.begin() && *(last - 1) / 10 == device.major) best = *(last - 1);
  return fmt::format("sm_{}", best);
}

bool nvrtc::knows(compute_capability device) const {
  return std::ranges::binary_search(architectures_, 10 * device.major + device.minor);
}

std::string nvrtc::identity_for(compute_capability device) const {
  return fmt::format("NVRTC {} {} {} {}", version_text(version_), architecture_for(device),
                     standard, less_language);
}

std::vector<std::byte> nvrtc::compile_to_cubin(const program_source& source,
                                               compute_capability device) const {
  const std::string architecture = architecture_for(device);
  const std::vector<std::string> base = base_options(source, architecture);
  bool minimal = std::ranges::find(source.options, full_language) == source.options.end();
  nvrtc_program program(api_, source);
  // Two options may turn out to be unknown, and the language to be too small.
  for (int attempts_left = 3;; --attempts_left) {
    std::vector<std::string> options = base;
    if (knows_no_cache_) options.emplace_back(no_cache);
    const bool tried_minimal = minimal && knows_minimal_;
    if (tried_minimal) options.emplace_back(less_language);
    const nvrtcResult result = program.compile(options);
    if (result == NVRTC_SUCCESS) return program.cubin();
    const bool try_again =
        (result == NVRTC_ERROR_INVALID_OPTION && learn_unknown_option(program.log())) ||
        (result == NVRTC_ERROR_COMPILATION && tried_minimal);
    if (!try_again || attempts_left == 0)
      program.throw_build_error(result, version_text(version_), architecture);
    if (result == NVRTC_ERROR_COMPILATION) minimal = false;
  }
}

bool nvrtc::learn_unknown_option(std::string_view log) const {
  const auto names = [&](std::string_view option) {
    return log.find(fmt::format("unrecognized option {} ", option)) != std::string_view::npos;
  };
  if (names(no_cache)) knows_no_cache_ = false;
  if (names(less_language)) knows_minimal_ = false;
  return names(no_cache) || names(less_language);
}

const nvrtc& default_nvrtc() {
  // Never destroyed: programs may be compiled while static objects are.
  static const nvrtc* const loaded = new nvrtc(driver().api.version / 1000);
  return *loaded;
}

}  // namespace tune::cuda
