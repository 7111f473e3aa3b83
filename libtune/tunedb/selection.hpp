// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/exchange/shown_field.hpp"
#include "libtune/store/maintenance/database_reader.hpp"

namespace CLI {
class App;
}

namespace tune::cli {

/// There is nothing of what was asked for: exit code 3.
class nothing_found : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The arguments make no sense together: exit code 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device that an option names, or its absence.
struct device_choice {
  std::string name{};
  std::string platform{};
  std::string driver{};

  /// Adds --device, --platform and --driver.
  void add_to(CLI::App& command);
  bool fits(const device_identity& device) const;
  /// The device that is named, or, if none is, the one that an autotuner would tune for here.
  device_identity identity() const;
};

/// "app::fill.autotune__3" as its name and version; without a version, none.
std::pair<std::string, std::optional<int>> split_function(const std::string& text);

/// The function of that name: of the version, or of the highest. @throws nothing_found
function_identity find_function(database_reader& database, const std::string& text);

/// The same, or nothing.
std::optional<function_identity> find_function_if(database_reader& database,
                                                  const std::string& text);

/// A key from "rows=64" and the like, in any order. @throws usage_error that lists the fields if
/// one is missing, unknown or of another type
std::vector<named_value> parse_key(const function_identity& function,
                                   const std::vector<std::string>& texts);

/// Key fields as such texts show them (shown_field), for a function that nobody has told of.
std::vector<field_description> shown_key_fields(const std::vector<std::string>& texts,
                                                const field_types& types);

/// Types from "rows=int64", "label=string?" and the like. @throws usage_error
field_types parse_types(const std::vector<std::string>& texts);

}  // namespace tune::cli
