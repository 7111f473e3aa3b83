// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/cuda/cubin.hpp"

#include <cstdint>
#include <cstring>
#include <elf.h>

namespace tune::cuda {
namespace {

constexpr std::uint16_t machine_cuda = 190;

bool fits(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size) noexcept {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

template <class T>
T read(std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool has_complete_sections(std::span<const std::byte> bytes, const Elf64_Ehdr& header) noexcept {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const std::uint64_t offset = header.e_shoff + i * sizeof(Elf64_Shdr);
    if (!fits(bytes, offset, sizeof(Elf64_Shdr))) return false;
    const auto section = read<Elf64_Shdr>(bytes, offset);
    if (section.sh_type != SHT_NOBITS && !fits(bytes, section.sh_offset, section.sh_size)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_complete_cubin(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(Elf64_Ehdr)) return false;
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == machine_cuda &&
         header.e_shnum > 0 && has_complete_sections(bytes, header) &&
         fits(bytes, header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize);
}

}  // namespace tune::cuda
