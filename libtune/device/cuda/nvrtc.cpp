// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/nvrtc.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/file_descriptor.hpp"
#include "libtune/device/cuda/cubin.hpp"
#include "libtune/device/cuda/driver.hpp"

namespace tune::cuda {
namespace {

// libtune's own options, which NVRTC does not have:
constexpr std::string_view full_language = "--minimal=false";
constexpr std::string_view kernel_name = "--kernel-name=";

/// One source in the compiler; it may be compiled again with other options. Not thread-safe.
class nvrtc_program {
 public:
  /// Both have to outlive the program. @throws build_error
  nvrtc_program(const nvrtc_api& api, const program_source& source);
  nvrtc_program(const nvrtc_program&) = delete;
  nvrtc_program& operator=(const nvrtc_program&) = delete;
  ~nvrtc_program();

  nvrtcResult compile(const std::vector<std::string>& options);

  /// Returns the machine code after a successful compile, with the symbols of kernels that the
  /// source's options name.
  /// @throws build_error
  std::vector<std::byte> cubin() const;

  /// Returns the messages of the last compile.
  std::string log() const;

  /// @param has_headers  true if the toolkit's headers were found
  [[noreturn]] void throw_build_error(nvrtcResult result, const std::string& version,
                                      const std::string& architecture, bool has_headers) const;

 private:
  const nvrtc_api& api_;
  const program_source& source_;
  nvrtcProgram handle_ = nullptr;
};

nvrtc_program::nvrtc_program(const nvrtc_api& api, const program_source& source)
    : api_(api), source_(source) {
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const kernel_header& header : source.headers) {
    texts.push_back(header.text.c_str());
    names.push_back(header.name.c_str());
  }
  const nvrtcResult result =
      api_.create_program(&handle_, source.text.c_str(), source.name.c_str(),
                          static_cast<int>(texts.size()), texts.data(), names.data());
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
                                      const std::string& architecture, bool has_headers) const {
  std::string text = log();
  if (text.empty()) text = api_.get_error_string(result);
  if (!has_headers && text.find("not open source file") != std::string::npos) {
    text +=
        "The headers of the CUDA toolkit (cuda_fp16.h, mma.h) were not found beside NVRTC, in "
        "CUDA_HOME or in /usr/local/cuda: install them, or set CUDA_HOME to the toolkit's folder\n";
  }
  throw build_error(fmt::format("'{}' does not compile for {} with NVRTC {}:\n{}", source_.name,
                                architecture, version, text),
                    text);
}

constexpr std::string_view no_cache = "--no-cache";
constexpr std::string_view less_language = "--minimal";
constexpr std::string_view standard = "--std=c++17";
// CUDA 13 warns of long4, ulong4 and double4, because they will be renamed; the new names are not
// portable.
constexpr std::string_view no_vector_warnings = "-D__NV_NO_VECTOR_DEPRECATION_DIAG";

// The system's search path, then the folders of NVIDIA's own installer.
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

// Undocumented: NVRTC passes them to its front end, which then writes the name of each file that it
// opens. The log does not change.
constexpr std::string_view trace_option = "-Xcudafe=--trace_includes";
constexpr std::string_view trace_file_option = "-Xcudafe=--error_output=";

/// A file in memory that the compiler writes by name.
class trace_file {
 public:
  trace_file() : file_(::memfd_create("libtune-includes", MFD_CLOEXEC)) {}

  std::string name() const { return fmt::format("/proc/self/fd/{}", file_.get()); }
  std::string text() const {
    std::string all;
    std::array<char, 4096> part{};
    for (::ssize_t count = 1; count > 0; all.append(part.data(), static_cast<std::size_t>(count))) {
      count = std::max<::ssize_t>(
          0, ::pread(file_.get(), part.data(), part.size(), static_cast<::off_t>(all.size())));
    }
    return all;
  }
  explicit operator bool() const noexcept { return static_cast<bool>(file_); }

 private:
  detail::file_descriptor file_;
};

namespace fs = std::filesystem;

std::string resolved(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(path, ignored).string();
}

// Returns "13.0.2" from version.json, or CUDA_VERSION, which lacks the last part.
std::string headers_version(const fs::path& folder) {
  const std::string json = read_text(folder.parent_path() / "version.json").value_or("");
  const std::string header = read_text(folder / "cuda.h").value_or("");
  const auto after = [](const std::string& text, std::string_view mark, const char* characters) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) return std::string();
    const std::size_t begin = text.find_first_of("0123456789", at + mark.size());
    if (begin == std::string::npos) return std::string();
    return text.substr(begin, text.find_first_not_of(characters, begin) - begin);
  };
  const std::string version = after(json, "\"CUDA SDK\"", "0123456789.");
  return version.empty() ? after(header, "#define CUDA_VERSION", "0123456789") : version;
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

nvrtc::nvrtc(int preferred_major) {
  load(library_names(preferred_major));
  if (absence_.empty()) find_headers();
}

// Searches near NVRTC, in the toolkit or in a folder of libraries; then where builds search.
void nvrtc::find_headers() {
  std::vector<fs::path> places;
  if (const fs::path folder = library_.folder(); !folder.empty()) {
    places.insert(places.end(), {folder.parent_path(), folder.parent_path().parent_path()});
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* given = ::secure_getenv(variable)) places.emplace_back(given);
  }
  places.emplace_back(fmt::format("/usr/local/cuda-{}", version_ / 1000));
  places.emplace_back("/usr/local/cuda");
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (!fs::exists(place / "include" / "cuda_fp16.h", ignored)) continue;
    headers_ = resolved(place / "include");
    headers_version_ = headers_version(headers_);
    return;
  }
}

std::vector<std::string> nvrtc::include_options() const {
  if (headers_.empty()) return {};
  std::vector<std::string> options{"-I" + headers_};
  // Since CUDA 13 the C++ library has a separate folder.
  std::error_code ignored;
  if (fs::exists(headers_ + "/cccl", ignored)) options.push_back("-I" + headers_ + "/cccl");
  return options;
}

// The trace has a line for each file, indented by depth: "  /usr/local/cuda/include/cuda_fp16.h".
included_files nvrtc::read_trace(const std::string& trace, const program_source& source,
                                 fs::file_time_type since) const {
  if (reads_untold(source)) return std::nullopt;
  std::vector<std::string> paths;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    const bool is_text =
        line.empty() || line.starts_with("__nv_") ||
        std::ranges::find(source.headers, line, &kernel_header::name) != source.headers.end();
    // /usr/include also holds headers of others.
    const bool is_own = !headers_.empty() && headers_ != "/usr/include" &&
                        resolved(line).starts_with(headers_ + "/");
    if (!is_text && !is_own) paths.push_back(line);
  }
  return read_included(paths, since);
}

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
  // NVRTC loads this part of itself by its name, at the first compilation.
  builtins_ = library_.beside(fmt::format("libnvrtc-builtins.so.{}.{}", major, minor));
  int count = 0;
  api_.get_architecture_count(&count);
  architectures_.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (!architectures_.empty()) api_.get_architectures(architectures_.data());
}

// Machine code also runs on later devices of the same major version.
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
  return fmt::format("NVRTC {} {} {} {}{}{}", version_text(version_), architecture_for(device),
                     standard, less_language, headers_version_.empty() ? "" : " headers ",
                     headers_version_);
}

compiled_program nvrtc::compile(const program_source& source, compute_capability device) const {
  const std::string architecture = architecture_for(device);
  std::vector<std::string> base = base_options(source, architecture);
  const bool includes = may_include(source);
  if (includes) std::ranges::move(include_options(), std::back_inserter(base));
  const auto since = fs::file_time_type::clock::now();
  bool minimal = std::ranges::find(source.options, full_language) == source.options.end();
  nvrtc_program program(api_, source);
  // NVRTC may refuse three of the options, and the minimal language may be too small.
  for (int attempts_left = 4;; --attempts_left) {
    std::vector<std::string> options = base;
    if (knows_no_cache_) options.emplace_back(no_cache);
    const bool tried_minimal = minimal && knows_minimal_;
    if (tried_minimal) options.emplace_back(less_language);
    std::optional<trace_file> trace;
    if (includes && knows_trace_ && trace.emplace()) {
      options.emplace_back(trace_option);
      options.push_back(std::string(trace_file_option) + trace->name());
    }
    const nvrtcResult result = program.compile(options);
    if (result == NVRTC_SUCCESS) {
      if (!includes) return {program.cubin(), std::vector<included_file>()};
      return {program.cubin(), trace ? read_trace(trace->text(), source, since) : std::nullopt};
    }
    // If the front end also writes its errors to the trace, the log is empty.
    const bool lost_log = result == NVRTC_ERROR_COMPILATION && trace && program.log().empty();
    if (lost_log) knows_trace_ = false;
    const bool try_again =
        (result == NVRTC_ERROR_INVALID_OPTION && learn_unknown_option(program.log())) ||
        (result == NVRTC_ERROR_COMPILATION && tried_minimal) || lost_log;
    if (!try_again || attempts_left == 0) {
      program.throw_build_error(result, version_text(version_), architecture, !headers_.empty());
    }
    if (result == NVRTC_ERROR_COMPILATION) minimal = false;
  }
}

bool nvrtc::learn_unknown_option(std::string_view log) const {
  const auto refuses = [&](std::string_view option, std::atomic<bool>& known) {
    if (log.find(fmt::format("unrecognized option {}", option)) == std::string_view::npos) {
      return false;
    }
    known = false;
    return true;
  };
  return refuses(no_cache, knows_no_cache_) || refuses(less_language, knows_minimal_) ||
         refuses("-Xcudafe", knows_trace_);
}

const nvrtc& default_nvrtc() {
  // Never destroyed: programs may be compiled while static objects are destroyed.
  static const nvrtc* const loaded = new nvrtc(driver().api.version / 1000);
  return *loaded;
}

}  // namespace tune::cuda
