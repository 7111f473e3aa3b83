// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/read_recording.hpp"

#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/simulate/unpacked_file.hpp"

namespace tune {
namespace {

bool mentions(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
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
  return read_recording(detail::read_unpacked(file, most_bytes), name.substr(0, name.find('.')),
                        tuned_for);
}

}  // namespace tune
