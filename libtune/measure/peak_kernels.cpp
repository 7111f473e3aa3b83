// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/peak_kernels.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "peak_arithmetic.kernel.hpp"
#include "peak_memory.kernel.hpp"
#include "peak_tensor.kernel.hpp"

namespace tune::detail {
namespace {

/// The steps of a round in peak_arithmetic.kernel.
constexpr double steps = 8;
constexpr double multiply_add = 2;  // operations
constexpr std::size_t gpu_work_group = 256;
/// Work groups for each core of a CPU, so that the slowest core decides less.
constexpr std::size_t groups_of_core = 8;

struct element {
  const char* name;
  std::size_t bytes;
  std::size_t narrow;  ///< elements in half the registers of a CPU with 512 bits
};

element element_of(arithmetic by) {
  switch (by) {
    case arithmetic::float64: return {"double", 8, 4};
    case arithmetic::float16: return {"half", 2, 8};
    case arithmetic::int32: return {"uint", 4, 8};
    default: return {"float", 4, 8};
  }
}

struct chain_form {
  const char* kernel;
  std::size_t lanes;
  std::size_t chains;
};

std::size_t groups_of(const device& of, std::size_t work_group) {
  const device_limits& limits = of.limits();
  const std::size_t units = std::max<std::size_t>(1, limits.compute_units);
  if (of.kind() == device_kind::cpu) return units * groups_of_core;
  constexpr std::size_t usual = 2048;  // work items
  const std::size_t items =
      limits.work_items_per_compute_unit > 0 ? limits.work_items_per_compute_unit : usual;
  return units * std::max<std::size_t>(1, items / work_group);
}

std::string vector_name(const element& of, std::size_t lanes) {
  return lanes == 1 ? of.name : of.name + std::to_string(lanes);
}

// CPUs have registers of 256 or 512 bits, some GPUs calculate with pairs.
std::vector<chain_form> forms_for(const element& of, const device& on) {
  if (on.info().language == kernel_language::cuda_cpp) return {{"chains", 1, 16}};
  if (on.kind() != device_kind::cpu) return {{"chains", 1, 16}, {"wide_chains", 2, 8}};
  return {{"chains", of.narrow, 12}, {"wide_chains", 2 * of.narrow, 12}};
}

peak_program vector_program(arithmetic by, const device& on) {
  const element of = element_of(by);
  const bool is_cuda = on.info().language == kernel_language::cuda_cpp;
  const bool packed = is_cuda && by == arithmetic::float16;
  peak_program made{
      .source = {"peak_arithmetic.kernel", std::string(embedded::peak_arithmetic_kernel)}};
  made.macros.add("element", of.name);
  if (by == arithmetic::float16) made.macros.add("uses_half", 1);
  if (packed) made.macros.add("packed_halves", 1);
  const std::size_t limit = std::max<std::size_t>(1, on.limits().max_work_group_size);
  const std::size_t work_group =
      on.kind() == device_kind::cpu ? 1 : std::min(gpu_work_group, limit);
  for (const auto& [kernel, lanes, chains] : forms_for(of, on)) {
    const std::string prefix = made.kernels.empty() ? "" : "wide_";
    made.macros.add(prefix + "number", packed ? "uint" : vector_name(of, lanes));
    made.macros.add(prefix + "chain_count", static_cast<int>(chains));
    const std::size_t halves = packed ? 2 : lanes;
    made.kernels.push_back(
        {.name = kernel,
         .work_group = work_group,
         .work_groups = groups_of(on, work_group),
         .operations = multiply_add * steps * static_cast<double>(chains * halves),
         .item_bytes = of.bytes * halves});
  }
  return made;
}

struct tensor_shape {
  const char* type;
  double k;  ///< of mma, and of wgmma
};

tensor_shape shape_of(arithmetic by) {
  switch (by) {
    case arithmetic::tensor_tf32: return {"tf32", 8};
    case arithmetic::tensor_int8: return {"int8", 32};
    default: return {"float16", 16};
  }
}

// 10.x and 11.x reach their peak by instructions that this library does not use.
std::optional<peak_program> tensor_program(arithmetic by, const device& on) {
  const auto capability = on.info().hardware.compute_capability;
  if (on.info().language != kernel_language::cuda_cpp || !capability) return std::nullopt;
  const int generation = 10 * capability->major + capability->minor;
  const bool uses_wgmma = generation == 90;
  const bool has_mma = (generation >= 80 && generation < 90) || generation >= 120;
  if (!uses_wgmma && !has_mma) return std::nullopt;
  const auto [type, k] = shape_of(by);
  peak_program made{.source = {"peak_tensor.kernel", std::string(embedded::peak_tensor_kernel)}};
  made.macros.add("tensor", type).add("uses_wgmma", uses_wgmma ? 1 : 0);
  if (uses_wgmma) {
    made.options.flags = {"--gpu-architecture=sm_90a"};
    made.kernels = {{.name = "products",
                     .work_group = 128,
                     .work_groups = 2 * std::max<std::size_t>(1, on.limits().compute_units),
                     .operations = multiply_add * 16 * 64 * 256 * k / 128,
                     .item_bytes = sizeof(float)}};
  } else {
    constexpr std::size_t work_group = 256;
    made.kernels = {{.name = "products",
                     .work_group = work_group,
                     .work_groups = groups_of(on, work_group),
                     .operations = multiply_add * 8 * 8 * 16 * 8 * k / 32,
                     .item_bytes = sizeof(float)}};
  }
  return made;
}

}  // namespace

std::optional<peak_program> peak_program_for(arithmetic by, const device& of) {
  switch (by) {
    case arithmetic::undeclared: return std::nullopt;
    case arithmetic::tensor_float16:
    case arithmetic::tensor_tf32:
    case arithmetic::tensor_int8: return tensor_program(by, of);
    default: return vector_program(by, of);
  }
}

kernel_source memory_source() {
  return {"peak_memory.kernel", std::string(embedded::peak_memory_kernel)};
}

}  // namespace tune::detail
