// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// A key whose searches can use captured runs as inputs.
struct captured_key {
  std::string function;          ///< the name of the autotuner
  std::vector<named_value> key;  ///< in the order of the captured program's key
  std::size_t contents = 0;      ///< the number of different contents
  /// The inputs that are stored with the result of a search: "captured 3 frames of receiver
  /// sha256:12ab34cd56ef7890".
  std::string inputs;
};

/// The keys of captured frames.
struct captured_keys {
  std::vector<captured_key> keys{};
  /// The runs that no search can use, each with its reason, each once.
  std::vector<std::string> left_out{};
};

/// Finds the keys of all operations of captured frames, and of the operations inside of captured
/// sequences: by the declarations of this program (tuned_by), else by those of the program that
/// captured them, else by capture_point_options.
/// @param path  a file, or a folder of files
/// @throws as read_captures
captured_keys find_captured_keys(const std::filesystem::path& path);

}  // namespace tune
