// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/extra/formats/infer_field.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"

namespace CLI {
class App;
}

namespace tune::cli {

/// An error for an empty result: exit code 3.
class nothing_found : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An error for invalid arguments: exit code 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device of the options, if any.
struct device_choice {
  std::string name{};
  std::string platform{};
  std::string driver{};

  /// Adds --device, --platform and --driver.
  void add_to(CLI::App& command);
  bool fits(const device_identity& device) const;
  /// The results and searches of such devices.
  row_choice rows() const {
    return {.device_name = name, .device_platform = platform, .driver_version = driver};
  }
  /// True if an option names a device.
  bool is_set() const { return !name.empty() || !platform.empty() || !driver.empty(); }
  /// The named device, or, without one, the device that an autotuner would use here.
  device_identity identity() const;
};

/// The usual devices of applications: the devices of the kind that select_device prefers, each
/// once, through the first platform that has it.
std::vector<device> usual_devices(const std::vector<device>& candidates);

/// Splits "app::fill.autotune__3" into name and version; without a version, empty.
std::pair<std::string, std::optional<int>> split_function(const std::string& text);

/// The function with that name: with the version, or the highest. @throws nothing_found
function_identity find_function(database_reader& database, const std::string& text);

/// Like find_function; empty if it is not found.
std::optional<function_identity> find_function_if(database_reader& database,
                                                  const std::string& text);

/// The key fields of a function, for users: "rows (int32), type (dtype)".
std::string fields_of(const std::vector<field_description>& fields);

/// Parses a key from texts such as "rows=64", in any order. @throws usage_error that lists the
/// fields if one is missing, unknown or of another type
std::vector<named_value> parse_key(const function_identity& function,
                                   const std::vector<std::string>& texts);

/// The key fields inferred from texts NAME=VALUE (infer_field), for an unknown function.
std::vector<field_description> inferred_key_fields(const std::vector<std::string>& texts,
                                                   const field_types& types);

/// Parses types from texts such as "rows=int64" or "label=string?". @throws usage_error
field_types parse_types(const std::vector<std::string>& texts);

/// A choice among the searches of a function.
struct search_choice {
  std::int64_t number = 0;               ///< the number of a search; zero for any
  std::vector<std::string> arguments{};  ///< NAME=VALUE of a whole key; empty for any
  device_choice device{};

  /// Adds --search, --arg and the device options.
  void add_to(CLI::App& command);

  /// The numbers of the matching searches, the latest last. @throws nothing_found without one
  std::vector<std::int64_t> find(database_reader& database,
                                 const function_identity& function) const;
  /// The latest matching search with its trials. @throws nothing_found without one
  search_content latest(database_reader& database, const function_identity& function) const;
};

}  // namespace tune::cli
