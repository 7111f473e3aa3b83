// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/backend/strided_copy.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <ranges>
#include <string>

#include "strided_copy.kernel.hpp"

namespace tune::operations::transforms {
namespace {

constexpr std::size_t work_group = 256;

/// Simplifies axes: those with one element are removed, and consecutive axes that form one axis in
/// both layouts are merged.
std::vector<copied_axis> merged(const std::vector<copied_axis>& axes) {
  std::vector<copied_axis> kept;
  for (const copied_axis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!kept.empty()) {
      copied_axis& before = kept.back();
      if (before.to == axis.to * axis.extent && before.from == axis.from * axis.extent) {
        before = {before.extent * axis.extent, axis.to, axis.from};
        continue;
      }
    }
    kept.push_back(axis);
  }
  if (kept.empty()) kept.push_back({});
  return kept;
}

std::string types_of_copy(std::size_t element_bytes, copied_as how) {
  if (how == copied_as::half_to_float) {
    return "typedef half from_type;\ntypedef float to_type;\n"
           "#define CONVERT(to, i, from, j) (to)[i] = vload_half(j, from)\n";
  }
  if (how == copied_as::float_to_half) {
    return "typedef float from_type;\ntypedef half to_type;\n"
           "#define CONVERT(to, i, from, j) vstore_half((from)[j], i, to)\n";
  }
  const char* const type = element_bytes == 2   ? "ushort"
                           : element_bytes == 4 ? "uint"
                           : element_bytes == 8 ? "uint2"
                                                : "uint4";
  return fmt::format(
      "typedef {0} from_type;\ntypedef {0} to_type;\n"
      "#define CONVERT(to, i, from, j) (to)[i] = (from)[j]\n",
      type);
}

program build_copy(const context& context, std::size_t axes, std::uint64_t count,
                   std::size_t element_bytes, copied_as how) {
  const bool is_wide = count > std::numeric_limits<std::uint32_t>::max();
  const std::string text =
      types_of_copy(element_bytes, how) +
      fmt::format("#define AXES {}\ntypedef {} index_type;\n", axes, is_wide ? "ulong" : "uint") +
      std::string(embedded::strided_copy_kernel);
  return compile(context, {"strided_copy.kernel", text});
}

/// The bytes of the kernel's parameter: all extents, then all strides.
std::vector<std::uint64_t> as_parameter(const std::vector<copied_axis>& axes) {
  std::vector<std::uint64_t> words;
  for (const copied_axis& axis : axes) words.push_back(axis.extent);
  for (const copied_axis& axis : axes) words.push_back(axis.to);
  for (const copied_axis& axis : axes) words.push_back(axis.from);
  return words;
}

std::uint64_t elements_of(const std::vector<copied_axis>& axes) {
  std::uint64_t count = 1;
  for (const copied_axis& axis : axes) count *= axis.extent;
  return count;
}

}  // namespace

std::vector<copied_axis> copied_axes(const shape& size, const shape& padded_to,
                                     const shape& padded_from) {
  std::vector<copied_axis> axes(size.rank());
  std::uint64_t to = 1;
  std::uint64_t from = 1;
  for (std::size_t axis = size.rank(); axis-- > 0;) {
    axes[axis] = {size[axis], to, from};
    to *= padded_to[axis];
    from *= padded_from[axis];
  }
  return axes;
}

strided_copy::strided_copy(const context& context, const std::vector<copied_axis>& axes,
                           std::size_t element_bytes, copied_as how)
    : kernel_(build_copy(context, merged(axes).size(), elements_of(axes), element_bytes, how)
                  .create_kernel("strided_copy")) {
  const std::vector<std::uint64_t> words = as_parameter(merged(axes));
  const std::uint64_t count = elements_of(axes);
  kernel_.set_argument(2, std::as_bytes(std::span(words)));
  kernel_.set_argument(3, count);
  range_ = {{round_up(count, work_group)}, {work_group}};
}

void strided_copy::enqueue(command_queue& queue, const buffer& to, const buffer& from) {
  kernel_.set_argument(0, to);
  kernel_.set_argument(1, from);
  queue.enqueue(kernel_, range_);
}

}  // namespace tune::operations::transforms
