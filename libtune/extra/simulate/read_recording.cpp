// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/read_recording.hpp"

#include <array>
#include <fmt/format.h>
#include <utility>
#include <zlib.h>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

bool mentions(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// The contents of a file, unpacked if it is gzip.
std::string read_file(const std::filesystem::path& path, std::size_t most_bytes) {
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

}  // namespace

recorded_space read_recording(std::string_view text, std::string name,
                              const std::optional<objective>& tuned_for) {
  if (mentions(text, "\"cache\"") && mentions(text, "\"tune_params_keys\"")) {
    return read_kernel_tuner(text, std::move(name), tuned_for);
  }
  // Tested before the export format, which a T4 file of libtune contains.
  if (mentions(text, "\"invalidity\"") && mentions(text, "\"results\"")) {
    return read_t4(text, std::move(name), tuned_for);
  }
  if (mentions(text, "\"libtune tuning results\"")) {
    return read_libtune_export(text, std::move(name));
  }
  throw argument_error("'" + name +
                       "' is neither a cache file of Kernel Tuner, nor T4, nor an export of "
                       "libtune");
}

recorded_space read_recording(const std::filesystem::path& file, std::size_t most_bytes,
                              const std::optional<objective>& tuned_for) {
  std::string name = file.filename().string();
  return read_recording(read_file(file, most_bytes), name.substr(0, name.find('.')), tuned_for);
}

}  // namespace tune
