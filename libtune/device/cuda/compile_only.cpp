// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Compiling with NVRTC for missing devices, or for devices of another process. Nothing is run.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/cuda/cubin.hpp"
#include "libtune/device/cuda/driver.hpp"
#include "libtune/device/cuda/nvrtc.hpp"
#include "libtune/device/interface.hpp"

namespace tune::cuda {
namespace {

[[noreturn]] void throw_only_compiles(const device_info& device, const std::string& call) {
  throw device_error(call, device.identity.name,
                     "this device is not there, kernels can only be compiled for it");
}

class compile_only_kernel final : public detail::kernel_interface {
 public:
  using kernel_interface::kernel_interface;

 private:
  void do_set_argument(std::size_t, const void*, std::size_t) override {}
  void do_set_buffer(std::size_t, const std::shared_ptr<detail::buffer_interface>&) override {}
};

class compile_only_program final : public detail::program_interface {
 public:
  compile_only_program(std::shared_ptr<detail::context_interface> context,
                       std::vector<std::byte> cubin)
      : program_interface(std::move(context)), cubin_(std::move(cubin)) {}

 private:
  std::unique_ptr<detail::kernel_interface> do_create_kernel(
      const std::string& name) const override {
    const device_info& device = context()->info();
    const std::string symbol = symbol_of(read_symbols(cubin_), name);
    const std::vector<std::string> names = kernel_names(cubin_);
    if (std::ranges::find(names, symbol) == names.end()) {
      throw device_error(fmt::format("looking for kernel '{}' in a program with the kernels {}",
                                     name, fmt::join(names, " ")),
                         device.identity.name, "the program has no kernel of this name");
    }
    const required_work_groups required = find_required_work_groups(cubin_);
    const auto found = required.find(symbol);
    kernel_info info{.name = name, .max_work_group_size = device.limits.max_work_group_size};
    if (found != required.end()) {
      info.required_work_group_size = found->second;
      info.max_work_group_size = found->second.total();
    }
    return std::make_unique<compile_only_kernel>(context(), std::move(info));
  }
  std::vector<std::byte> do_binary() const override { return cubin_; }

  std::vector<std::byte> cubin_;
};

class compile_only_context final : public detail::context_interface {
 public:
  compile_only_context(std::shared_ptr<const detail::device_interface> device,
                       const nvrtc& compiler)
      : context_interface(std::move(device)), compiler_(compiler) {}

 private:
  compute_capability capability() const { return *info().hardware.compute_capability; }

  std::shared_ptr<detail::buffer_interface> do_create_buffer(std::size_t) override {
    throw_only_compiles(info(), "making a buffer");
  }
  std::shared_ptr<detail::buffer_interface> do_create_managed_buffer(std::size_t) override {
    throw_only_compiles(info(), "making a buffer");
  }
  std::shared_ptr<detail::buffer_interface> do_create_sub_buffer(
      const std::shared_ptr<detail::buffer_interface>&, std::size_t, std::size_t) override {
    throw_only_compiles(info(), "making a buffer");
  }
  std::shared_ptr<detail::pinned_memory_interface> do_create_pinned_memory(std::size_t) override {
    throw_only_compiles(info(), "making pinned memory");
  }
  std::shared_ptr<detail::queue_interface> do_create_queue(detail::queue_settings) override {
    throw_only_compiles(info(), "making a command queue");
  }
  std::shared_ptr<detail::program_interface> do_create_program(
      const program_source& source) override {
    compiled_program compiled = compiler_.compile(source, capability());
    const std::size_t bytes = compiled.binary.size();
    auto made =
        std::make_shared<compile_only_program>(shared_from_this(), std::move(compiled.binary));
    made->set_included(std::move(compiled.included));
    made->set_binary_bytes(bytes);
    return made;
  }
  std::shared_ptr<detail::program_interface> do_create_program_from_binary(
      const std::string& name, std::span<const std::byte> binary) override {
    if (!is_complete_cubin(binary)) {
      throw device_error("loading the binary of '" + name + "'", info().identity.name,
                         "it is not machine code of CUDA, or only a part of it",
                         device_failure::invalid_binary);
    }
    return std::make_shared<compile_only_program>(
        shared_from_this(), std::vector<std::byte>(binary.begin(), binary.end()));
  }
  std::string do_compiler_identity() const override { return compiler_.identity_for(capability()); }

  const nvrtc& compiler_;
};

// From the table "Technical Specifications per Compute Capability" of the CUDA programming guide;
// the minimum for others.
std::size_t most_local_memory_kib(compute_capability capability) {
  switch (10 * capability.major + capability.minor) {
    case 70: return 96;
    case 80:
    case 87: return 163;
    case 86:
    case 89:
    case 120:
    case 121: return 99;
    case 90:
    case 100:
    case 103: return 227;
    default: return 64;
  }
}

// Minima of the devices that CUDA still supports, and values that all of them share.
device_limits common_limits(compute_capability capability) {
  constexpr std::size_t kibibyte = 1024;
  device_limits limits;
  limits.max_work_group_size = 1024;
  limits.max_work_group_extent = {1024, 1024, 64};
  limits.local_memory_bytes = 48 * kibibyte;
  limits.max_dynamic_local_memory_bytes = most_local_memory_kib(capability) * kibibyte;
  limits.simd_group_size = 32;
  limits.registers_per_work_group = 65536;
  limits.buffer_alignment_bytes = 256;
  return limits;
}

device_info info_of(const nvrtc& compiler, compute_capability capability) {
  device_info info;
  info.identity = {.name = fmt::format("{} (only compiles)", compiler.architecture_for(capability)),
                   .platform = "CUDA",
                   .driver_version = "NVRTC " + version_text(compiler.version())};
  info.backend = "CUDA";
  info.kind = device_kind::gpu;
  info.language = kernel_language::cuda_cpp;
  info.limits = common_limits(capability);
  info.hardware.compute_capability = capability;
  return info;
}

class compile_only_device_impl final : public detail::device_interface {
 public:
  compile_only_device_impl(const nvrtc& compiler, compute_capability capability)
      : device_interface(info_of(compiler, capability)), compiler_(compiler) {}

 private:
  std::shared_ptr<detail::context_interface> do_create_context(context_options) const override {
    return std::make_shared<compile_only_context>(shared_from_this(), compiler_);
  }

  const nvrtc& compiler_;
};

// "NVRTC 12.4 sm_90 --std=c++17": 12; 0 for any other text.
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
  // A process that compiles for others uses a single version: that of the first request.
  static const nvrtc* const loaded = new nvrtc(major_version_in(identity));
  if (!loaded->absence().empty()) throw error(loaded->absence());
  if (loaded->identity_for(device) != identity) {
    throw error("the compiler here is " + loaded->identity_for(device) + ", not " + identity);
  }
  return *loaded;
}

}  // namespace

device compile_only_device(compute_capability capability) {
  const nvrtc& compiler = default_nvrtc();
  if (!compiler.absence().empty()) {
    throw no_device_error("kernels cannot be compiled for CUDA: " + compiler.absence());
  }
  const std::string wanted = fmt::format("sm_{}{}", capability.major, capability.minor);
  if (!compiler.knows(capability)) {
    throw no_device_error(
        fmt::format("NVRTC {} does not compile for {}", version_text(compiler.version()), wanted));
  }
  return device(std::make_shared<compile_only_device_impl>(compiler, capability));
}

compiled_program compile_for(compute_capability device, const std::string& identity,
                             const program_source& source) {
  return compiler_for(device, identity).compile(source, device);
}

void prepare_compiler_for(compute_capability device, const std::string& identity) {
  // The first program of a process takes longer to compile than the others.
  compile_for(device, identity,
              {.name = "prepare", .text = "__global__ void prepare() {}", .options = {}});
}

}  // namespace tune::cuda
