// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/packing.hpp"

#include <new>
#include <zlib.h>

namespace tune::detail {
namespace {

// Noise, such as samples of an antenna, does not become smaller, and zlib is slow to find out.
constexpr std::size_t probe_bytes = std::size_t{1} << 15;

const Bytef* in(std::span<const std::byte> bytes) {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

// Returns the size of the compressed bytes; 0 if they do not fit.
std::size_t pack_into(std::span<const std::byte> bytes, int level, std::span<std::byte> packed) {
  uLongf size = packed.size();
  const int result =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size, in(bytes), bytes.size(), level);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  return result == Z_OK ? size : 0;
}

}  // namespace

bool pack(std::span<const std::byte> bytes, int level, std::vector<std::byte>& packed) {
  packed.resize(bytes.size());
  if (bytes.size() > 4 * probe_bytes) {
    const auto middle = bytes.subspan(bytes.size() / 2, probe_bytes);
    const std::size_t probed = pack_into(middle, level, packed);
    if (probed == 0 || probed > probe_bytes / 100 * 97) return false;
  }
  if (packed.empty()) return false;
  const std::size_t size = pack_into(bytes, level, std::span(packed).first(packed.size() - 1));
  packed.resize(size);
  return size > 0;
}

bool unpack(std::span<const std::byte> packed, std::span<std::byte> bytes) {
  uLongf size = bytes.size();
  const int result =
      uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size, in(packed), packed.size());
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  return result == Z_OK && size == bytes.size();
}

}  // namespace tune::detail
