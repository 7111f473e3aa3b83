// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compile.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/kernel/build_log.hpp"
#include "libtune/kernel/cache/included_memory.hpp"
#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/preamble.hpp"

namespace tune {
namespace {

/// Returns the further lines of a message: the device and the macros.
std::string circumstances(const device_info& device, const defines& macros) {
  std::string text = fmt::format("\nfor device '{}' ({}, {})", device.identity.name,
                                 device.identity.platform, device.identity.driver_version);
  if (!macros.values().empty()) text += " with " + to_string(macros.values());
  return text;
}

// Usually the wrong device was chosen.
std::string foreign_language(const device_info& device, const std::string& text) {
  const bool is_cuda = device.language == kernel_language::cuda_cpp;
  if (text.find(is_cuda ? "__kernel" : "__global__") == std::string::npos) return {};
  return is_cuda ? " (the text is OpenCL C, and this device compiles CUDA C++)"
                 : " (the text is CUDA C++, and this device compiles OpenCL C)";
}

// Lists of failures only show the first line.
std::string describe_failure(const device_info& device, const resolved_source& source,
                             const defines& macros, const std::string& log,
                             std::size_t lines_before) {
  return fmt::format("'{}' does not compile: {}", source.files.front().name,
                     first_error(source, log, lines_before)) +
         foreign_language(device, source.files.front().text) + circumstances(device, macros) +
         quote_source_lines(source, log, lines_before) + "\ncompiler log:\n" + log;
}

/// Reports to a scope that a program is being compiled, during its life.
class [[nodiscard]] announced_compiling {
 public:
  explicit announced_compiling(const compile_scope* scope) : scope_(scope) {
    if (scope_ != nullptr) scope_->announce(true);
  }
  ~announced_compiling() {
    if (scope_ != nullptr) scope_->announce(false);
  }
  announced_compiling(const announced_compiling&) = delete;
  announced_compiling& operator=(const announced_compiling&) = delete;

 private:
  const compile_scope* scope_;
};

program build(const context& context, const program_source& source, const compiler* given,
              compile_scope* scope) {
  if (given == nullptr && scope != nullptr) {
    if (auto prebuilt = scope->find_prebuilt(context, source)) return *std::move(prebuilt);
  }
  const announced_compiling now(scope);
  if (given != nullptr) {
    program made = given->build(context, source);
    if (made.included()) remember_included(context, source, made.included());
    return made;
  }
  static const detail::never_destroyed<in_process_compiler> in_process;
  static const detail::never_destroyed<pooled_compiler> pooled(
      *in_process, pooled_compiler::use_pool::when_busy);
  const bool keeps = scope == nullptr || !scope->keeps_no_binaries();
  return cached_compiler(*pooled, program_cache(), recent_programs(), keeps).build(context, source);
}

/// Returns everything that a program without included files depends on.
std::string text_of(const context& context, const kernel_source& source, const defines& macros,
                    const compile_options& options) {
  std::string text =
      fmt::format("{}\n{}\n", static_cast<const void*>(context.impl().get()), source.name);
  for (const std::string& flag : options.flags) text += flag + '\n';
  for (const std::string& kernel : options.kernels) text += "kernel " + kernel + '\n';
  text += macros.text();
  text += source.text;
  return text;
}

void note(compile_scope& scope, const context& context, const program_source& source,
          const compiler* given) {
  if (scope.learns_files() && watched_digest(context, source) == compile_scope::unknown_program) {
    try {
      static_cast<void>(build(context, source, given, nullptr));
    } catch (const build_error&) {  // the source stays unknown
    }
  }
  scope.note(context, source);
}

}  // namespace

program compile(const context& context, const kernel_source& source, const defines& macros,
                const compile_options& options) {
  const tune::device handle = context.device();
  const device_info& device = handle.info();
  const auto what = [&] {
    return fmt::format("compile '{}' for device '{}'", source.name, device.identity.name);
  };
  detail::refuse_if_forked(what);
  detail::check_seal(sealed_action::compile, what);
  compile_scope* const scope = compile_scope::current();
  loaded_programs* const loaded =
      scope != nullptr && options.compiler == nullptr && source.headers.empty() ? scope->loaded()
                                                                                : nullptr;
  std::string whole;
  if (loaded != nullptr) {
    whole = text_of(context, source, macros, options);
    if (const auto* const kept = loaded->find(whole)) {
      scope->take(*kept);
      return kept->made;
    }
  }
  const resolved_source resolved = include_kernel_library(source);
  // A part of the text, and so of every digest and cached binary.
  const std::string before =
      fmt::format("{}\n#define SIMD_GROUP_SIZE {}\n{}", preamble(device.language),
                  std::max<std::size_t>(1, device.limits.simd_group_size), macros.text());
  program_source complete{.name = source.name,
                          .text = before + resolved.text,
                          .options = options.flags,
                          .headers = source.headers};
  if (device.language == kernel_language::cuda_cpp) {
    for (const std::string& kernel : options.kernels) {
      complete.options.push_back("--kernel-name=" + kernel);
    }
  }
  if (scope != nullptr) note(*scope, context, complete, options.compiler);
  // The files of a program are known only to the compiler.
  const bool includes = scope != nullptr ? scope->last_includes() : may_include(complete);
  if (!includes) compare_with_expected(context, macros, complete);
  try {
    program made = build(context, complete, options.compiler, scope);
    if (scope != nullptr) scope->keep(made);
    if (includes && scope != nullptr) scope->note_compiled(context, complete);
    if (includes) compare_with_expected(context, macros, complete);
    if (loaded != nullptr && !includes) {
      loaded->add(std::move(whole), {.made = made, .digest = scope->programs().back()});
    }
    return made;
  } catch (const compiler_lost_error& lost) {
    throw compiler_lost_error(fmt::format("'{}' was not compiled: {}", source.name, lost.log()) +
                                  circumstances(device, macros),
                              lost.log(), lost.why());
  } catch (const build_error& failure) {
    const auto lines_before =
        static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    throw build_error(describe_failure(device, resolved, macros, failure.log(), lines_before),
                      failure.log());
  }
}

void check_compiles(const kernel_source& source, const defines& macros, std::string_view target,
                    const compile_options& options) {
  for (const device& item : compile_targets(target)) {
    compile(item.create_context(), source, macros, options);
  }
}

}  // namespace tune
