// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/cubin.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace tune::cuda {
namespace {

constexpr std::uint16_t machine_cuda = 190;
constexpr std::string_view symbols_mark = "libtune\1";

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

/// The sections of complete machine code.
class section_table {
 public:
  explicit section_table(std::span<const std::byte> bytes) : bytes_(bytes) {
    const auto header = read<Elf64_Ehdr>(bytes, 0);
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
      sections_.push_back(read<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    if (header.e_shstrndx < sections_.size()) names_ = header.e_shstrndx;
  }

  const std::vector<Elf64_Shdr>& all() const noexcept { return sections_; }

  std::span<const std::byte> content(std::size_t index) const {
    if (index >= sections_.size() || sections_[index].sh_type == SHT_NOBITS) return {};
    return bytes_.subspan(sections_[index].sh_offset, sections_[index].sh_size);
  }

  std::string_view name(const Elf64_Shdr& section) const { return text(names_, section.sh_name); }

  /// Returns a text of a string table; empty if it is out of range.
  std::string_view text(std::size_t table, std::size_t offset) const {
    const std::span<const std::byte> all = content(table);
    if (offset >= all.size()) return {};
    const std::string_view rest(reinterpret_cast<const char*>(all.data()) + offset,
                                all.size() - offset);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::size_t names_ = SHN_UNDEF;
};

// In the mangled name of libtune_required_work_group<8, 4, 2>, of preamble.cuda.kernel, the first
// text precedes the first number, and the second follows each of the others.
constexpr std::string_view before_shape = "libtune_required_work_groupILj";
constexpr std::string_view between_extents = "ELj";

/// Returns the shape in the name of a variable of REQD_WORK_GROUP_SIZE; empty for other names.
std::optional<work_size> shape_in(std::string_view name) {
  const std::size_t at = name.find(before_shape);
  if (at == std::string_view::npos) return std::nullopt;
  const char* next = name.data() + at + before_shape.size();
  const char* const end = name.data() + name.size();
  std::array<std::size_t, 3> extents{};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (axis > 0) {
      const std::string_view left(next, static_cast<std::size_t>(end - next));
      if (!left.starts_with(between_extents)) return std::nullopt;
      next += between_extents.size();
    }
    const auto [stop, failure] = std::from_chars(next, end, extents[axis]);
    if (failure != std::errc{}) return std::nullopt;
    next = stop;
  }
  return work_size{extents[0], extents[1], extents[2]};
}

/// Returns the shapes that the program's kernels require, without duplicates.
std::vector<work_size> read_shapes(const section_table& sections) {
  std::vector<work_size> shapes;
  for (std::size_t i = 0; i < sections.all().size(); ++i) {
    if (sections.all()[i].sh_type != SHT_SYMTAB) continue;
    const std::span<const std::byte> symbols = sections.content(i);
    for (std::size_t at = 0; fits(symbols, at, sizeof(Elf64_Sym)); at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(symbols, at);
      const auto shape = shape_in(sections.text(sections.all()[i].sh_link, symbol.st_name));
      if (shape && std::ranges::find(shapes, *shape) == shapes.end()) shapes.push_back(*shape);
    }
  }
  return shapes;
}

// A kernel's attributes: format and number, a byte each, then two bytes with a value or, in one
// format, with the length of the value that follows.
constexpr std::byte counted_format{4};
constexpr std::byte most_threads{5};  // three numbers of 32 bits

/// Returns the largest work group that a kernel allows, in work items; 0 without a bound.
std::size_t read_bound(std::span<const std::byte> attributes) {
  std::size_t at = 0;
  while (fits(attributes, at, 4)) {
    const bool counted = attributes[at] == counted_format;
    const std::size_t size = counted ? read<std::uint16_t>(attributes, at + 2) : 0;
    if (!fits(attributes, at + 4, size)) return 0;
    if (counted && attributes[at + 1] == most_threads && size >= 3 * sizeof(std::uint32_t)) {
      const auto bound = read<std::array<std::uint32_t, 3>>(attributes, at + 4);
      return std::size_t{bound[0]} * bound[1] * bound[2];
    }
    at += 4 + size;
  }
  return 0;
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

std::vector<std::string> kernel_names(std::span<const std::byte> cubin) {
  constexpr std::string_view of_kernel = ".nv.info.";
  const section_table sections(cubin);
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections.all()) {
    const std::string_view found = sections.name(section);
    if (found.starts_with(of_kernel)) names.emplace_back(found.substr(of_kernel.size()));
  }
  return names;
}

// Appends the expressions and symbols, each with a null character after it, then their length and
// the mark.
void append_symbols(std::vector<std::byte>& cubin, const kernel_symbols& symbols) {
  std::string text;
  for (const auto& [expression, symbol] : symbols) {
    text.append(expression).append(1, '\0').append(symbol).append(1, '\0');
  }
  const std::uint64_t size = text.size();
  text.append(reinterpret_cast<const char*>(&size), sizeof size).append(symbols_mark);
  const auto bytes = std::as_bytes(std::span(text));
  cubin.insert(cubin.end(), bytes.begin(), bytes.end());
}

kernel_symbols read_symbols(std::span<const std::byte> cubin) {
  constexpr std::size_t end = sizeof(std::uint64_t) + symbols_mark.size();
  kernel_symbols symbols;
  const std::string_view all(reinterpret_cast<const char*>(cubin.data()), cubin.size());
  if (!all.ends_with(symbols_mark) || cubin.size() < end) return symbols;
  const auto size = read<std::uint64_t>(cubin, cubin.size() - end);
  if (size > cubin.size() - end) return symbols;
  std::string_view left = all.substr(all.size() - end - size, size);
  while (std::ranges::count(left, '\0') >= 2) {
    const std::size_t first = left.find('\0');
    const std::size_t second = left.find('\0', first + 1);
    symbols.emplace(left.substr(0, first), left.substr(first + 1, second - first - 1));
    left.remove_prefix(second + 1);
  }
  return symbols;
}

const std::string& symbol_of(const kernel_symbols& symbols, const std::string& kernel) {
  const auto found = symbols.find(kernel);
  return found == symbols.end() ? kernel : found->second;
}

required_work_groups find_required_work_groups(std::span<const std::byte> cubin) {
  constexpr std::string_view of_kernel = ".nv.info.";
  const section_table sections(cubin);
  const std::vector<work_size> shapes = read_shapes(sections);
  required_work_groups required;
  if (shapes.empty()) return required;
  for (std::size_t i = 0; i < sections.all().size(); ++i) {
    const std::string_view name = sections.name(sections.all()[i]);
    if (!name.starts_with(of_kernel)) continue;
    const std::size_t bound = read_bound(sections.content(i));
    const auto has_bound = [&](const work_size& shape) { return shape.total() == bound; };
    if (bound == 0 || std::ranges::count_if(shapes, has_bound) != 1) continue;
    required.emplace(name.substr(of_kernel.size()), *std::ranges::find_if(shapes, has_bound));
  }
  return required;
}

}  // namespace tune::cuda
