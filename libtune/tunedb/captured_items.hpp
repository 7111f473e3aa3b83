// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The keys of captured frames that a command tunes.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune::cli {

/// A key of captured frames in an application.
struct captured_item {
  function_identity function{};    ///< of the application
  std::vector<named_value> key{};  ///< in the order of its fields
  std::string inputs{};            ///< captured_key::inputs
};

/// The keys of captured frames, and the lines about what cannot be used.
struct captured_items {
  std::vector<captured_item> items{};
  std::vector<std::string> left_out{};
};

/// Finds the keys of captured frames that an application has.
/// @param path  a file, or a folder of files
/// @throws as find_captured_keys
captured_items find_captured_items(const std::filesystem::path& path,
                                   std::span<const function_identity> functions);

/// The inputs of the result that a database has for a key on a device (search_identity::inputs);
/// empty without one, or if it has those of its author.
std::string inputs_of_result(const std::string& database, const function_identity& function,
                             const std::vector<named_value>& key, const device_identity& device);

/// Returns the items to tune: for each kind of device, again if its result has other inputs.
/// @param database  of the results
std::vector<pretuning_item> items_to_tune(std::span<const captured_item> captured,
                                          std::span<const device> devices,
                                          const std::string& database);

/// Returns the items to tune again for all devices.
std::vector<pretuning_item> items_of(std::span<const captured_item> captured);

}  // namespace tune::cli
