// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/simulate/read_recording.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "bench/simulate/gunzip.hpp"
#include "libtune/base/error.hpp"

namespace tune {
namespace {

bool mentions(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

recorded_space read_text(std::string_view text, std::string name) {
  if (mentions(text, "\"cache\"") && mentions(text, "\"tune_params_keys\"")) {
    return read_kernel_tuner(text, std::move(name));
  }
  // Before the export, which a T4 file of libtune has inside.
  if (mentions(text, "\"invalidity\"") && mentions(text, "\"measurements\"")) {
    return read_t4(text, std::move(name));
  }
  if (mentions(text, "\"libtune tuning results\"")) {
    return read_libtune_export(text, std::move(name));
  }
  throw argument_error("'" + name +
                       "' is neither a cache file of Kernel Tuner, nor T4, nor an export of "
                       "libtune");
}

}  // namespace

recorded_space read_recording(std::string_view bytes, std::string name) {
  return read_text(gunzip(bytes), std::move(name));
}

recorded_space read_recording(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!stream || bytes.empty()) throw error("the recording " + file.string() + " cannot be read");
  std::string name = file.filename().string();
  return read_recording(bytes, name.substr(0, name.find('.')));
}

}  // namespace tune
