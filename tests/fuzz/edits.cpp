// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/edits.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace fuzz {

std::vector<std::byte> edited(std::vector<std::byte> file, std::span<const std::uint8_t> input) {
  constexpr std::size_t edit = 5;
  for (; input.size() >= edit; input = input.subspan(edit)) {
    const std::size_t offset = input[0] | std::size_t{input[1]} << 8 | std::size_t{input[2]} << 16;
    const unsigned what = input[3];
    const std::byte byte{input[4]};
    if (what >= 224) {
      file.push_back(byte);
      continue;
    }
    if (file.empty()) continue;
    const std::size_t at = offset % file.size();
    if (what >= 192) {
      file.resize(at);
    } else if (what >= 128) {
      std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at),
                  std::min<std::size_t>(16, file.size() - at), byte);
    } else {
      file[at] = what >= 64 ? byte : file[at] ^ byte;
    }
  }
  return file;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> contents) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(contents.data()),
             static_cast<std::streamsize>(contents.size()));
  file.close();
  using std::filesystem::perms;
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
}

}  // namespace fuzz
