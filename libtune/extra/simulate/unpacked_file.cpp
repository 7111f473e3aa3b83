// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/unpacked_file.hpp"

#include <array>
#include <fmt/format.h>
#include <zlib.h>

#include "libtune/base/error.hpp"

namespace tune::detail {

std::string read_unpacked(const std::filesystem::path& path, std::size_t most_bytes) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw error("the recording " + path.string() + " cannot be read");
  std::string text;
  std::array<char, 1 << 16> part{};
  int count = 0;
  while (text.size() <= most_bytes && (count = gzread(file, part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  const bool damaged = gzclose(file) != Z_OK || count < 0;
  if (text.size() > most_bytes) {
    throw argument_error(fmt::format("a gzip file holds more than {} bytes", most_bytes));
  }
  if (damaged) throw argument_error(path.string() + " is damaged, cut off or no file");
  if (text.empty()) throw error("the recording " + path.string() + " is empty");
  return text;
}

}  // namespace tune::detail
