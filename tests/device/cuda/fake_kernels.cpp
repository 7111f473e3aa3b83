// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device/cuda/fake_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace fake_cuda {
namespace {

template <class T>
T read(void** arguments, std::size_t index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

struct launch {
  dimensions groups;
  dimensions group;
  void** arguments;

  template <class T>
  T* buffer(std::size_t index) const {
    return reinterpret_cast<T*>(read<std::uint64_t>(arguments, index));
  }
  std::size_t items() const { return std::size_t{groups.x} * group.x; }
};

void add(const launch& call) {
  auto* data = call.buffer<std::int32_t>(0);
  for (std::size_t i = 0; i < call.items(); ++i) data[i] += read<std::int32_t>(call.arguments, 1);
}

std::uint32_t joined(unsigned x, unsigned y, unsigned z) { return x + 100 * y + 10000 * z; }

void ids(const launch& call) {
  const dimensions& group = call.group;
  std::size_t i = 0;
  for (unsigned z = 0; z < call.groups.z * group.z; ++z) {
    for (unsigned y = 0; y < call.groups.y * group.y; ++y) {
      for (unsigned x = 0; x < call.groups.x * group.x; ++x) {
        call.buffer<std::uint32_t>(0)[i] = joined(x, y, z);
        call.buffer<std::uint32_t>(1)[i] = joined(x % group.x, y % group.y, z % group.z);
        call.buffer<std::uint32_t>(2)[i] = joined(x / group.x, y / group.y, z / group.z);
        ++i;
      }
    }
  }
}

void scalars(const launch& call) {
  auto* out = call.buffer<std::int64_t>(0);
  out[0] = read<std::uint8_t>(call.arguments, 1);
  out[1] = read<std::int16_t>(call.arguments, 2);
  out[2] = read<std::int32_t>(call.arguments, 3);
  out[3] = static_cast<std::int64_t>(read<std::uint64_t>(call.arguments, 4));
  out[4] = static_cast<std::int64_t>(read<float>(call.arguments, 5) * 4);
}

void reverse(const launch& call) {
  auto* data = call.buffer<std::int32_t>(0);
  for (unsigned i = 0; i < call.groups.x; ++i) {
    std::reverse(data + i * call.group.x, data + (i + 1) * call.group.x);
  }
}

void nothing(const launch&) {}

// The kernels of fill.kernel as host functions; what they ask of their work item follows it.
using uchar = std::uint8_t;
using ushort = std::uint16_t;
using uint = std::uint32_t;
using ulong = std::uint64_t;
struct alignas(16) uint4 {
  uint words[4];
};
thread_local std::array<ulong, 3> global_id;
thread_local std::array<ulong, 3> global_size;
ulong get_global_id(std::size_t axis) { return global_id[axis]; }
ulong get_global_size(std::size_t axis) { return global_size[axis]; }
#define KERNEL
#define GLOBAL
#include "libtune/device/fill.kernel"
#undef KERNEL
#undef GLOBAL

template <class Word, class Pattern>
void run_fill(const launch& call,
              void (*fill)(Word*, ulong, ulong, ulong, ulong, ulong, ulong, uint, Pattern)) {
  const dimensions& group = call.group;
  const auto count = [&](std::size_t i) { return read<ulong>(call.arguments, i); };
  global_size = {ulong{call.groups.x} * group.x, ulong{call.groups.y} * group.y,
                 ulong{call.groups.z} * group.z};
  for (ulong z = 0; z < global_size[2]; ++z) {
    for (ulong y = 0; y < global_size[1]; ++y) {
      for (ulong x = 0; x < global_size[0]; ++x) {
        global_id = {x, y, z};
        fill(call.buffer<Word>(0), count(1), count(2), count(3), count(4), count(5), count(6),
             read<uint>(call.arguments, 7), read<Pattern>(call.arguments, 8));
      }
    }
  }
}

template <auto Fill>
void fill(const launch& call) {
  run_fill(call, Fill);
}

struct known_kernel {
  std::vector<std::size_t> sizes;
  void (*run)(const launch&);
};

const std::map<std::string, known_kernel>& known() {
  static const std::vector<std::size_t> fill_sizes{8, 8, 8, 8, 8, 8, 8, 4, sizeof(fill_16_pattern)};
  static const std::map<std::string, known_kernel> kernels{
      {"add", {{8, 4}, add}},
      {"ids", {{8, 8, 8}, ids}},
      {"reverse", {{8}, reverse}},
      {"scalars", {{8, 1, 2, 4, 8, 4}, scalars}},
      {"busy", {{8, 4}, nothing}},
      {"reverse_dynamic", {{8}, reverse}},
      {"delay", {{8}, nothing}},
      {"fill_1", {fill_sizes, fill<fill_1>}},
      {"fill_2", {fill_sizes, fill<fill_2>}},
      {"fill_4", {fill_sizes, fill<fill_4>}},
      {"fill_8", {fill_sizes, fill<fill_8>}},
      {"fill_16", {fill_sizes, fill<fill_16>}}};
  return kernels;
}

}  // namespace

bool find_parameter(const std::string& kernel, std::size_t index, std::size_t& offset,
                    std::size_t& size) {
  const auto found = known().find(kernel);
  if (found == known().end() || index >= found->second.sizes.size()) return false;
  offset = 0;
  for (std::size_t i = 0; i <= index; ++i) {
    size = found->second.sizes[i];
    const std::size_t alignment = std::min<std::size_t>(size, 16);
    offset = (offset + alignment - 1) / alignment * alignment;
    if (i < index) offset += size;
  }
  return true;
}

void run_kernel(const std::string& kernel, const dimensions& groups, const dimensions& group,
                void** arguments) {
  const auto found = known().find(kernel);
  if (found != known().end()) found->second.run({groups, group, arguments});
}

}  // namespace fake_cuda
