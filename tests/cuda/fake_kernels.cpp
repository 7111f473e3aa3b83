// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/cuda/fake_kernels.hpp"

#include <algorithm>
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

struct known_kernel {
  std::vector<std::size_t> sizes;
  void (*run)(const launch&);
};

const std::map<std::string, known_kernel>& known() {
  static const std::map<std::string, known_kernel> kernels{
      {"add", {{8, 4}, add}},      {"ids", {{8, 8, 8}, ids}},
      {"reverse", {{8}, reverse}}, {"scalars", {{8, 1, 2, 4, 8, 4}, scalars}},
      {"busy", {{8, 4}, nothing}}, {"reverse_dynamic", {{8}, reverse}},
      {"runway", {{8}, nothing}}};
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
    offset = (offset + size - 1) / size * size;
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
