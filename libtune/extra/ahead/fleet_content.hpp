// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/extra/ahead/fleet_message.hpp"
#include "libtune/extra/maintenance/merge.hpp"

namespace tune::detail {

/// A key on a kind of device, as text.
std::string content_key(const function_identity& function, const std::vector<named_value>& key,
                        const device_identity& device);

/// The database of one rank.
class fleet_database {
 public:
  explicit fleet_database(std::string path);

  /// A text that is equal in processes of one machine that use the same file.
  const std::string& place() const noexcept { return place_; }
  /// Reads the requested results and searches. @throws database_error
  database_content read(const fleet_question& question) const;
  /// Merges results and searches of another rank; logs failures.
  /// @throws database_error
  void merge(const database_content& content, merge_winner winner) const;

 private:
  std::string path_;
  std::string place_;
  std::string begin_;  // the creation time of this object, in the format of the rows
};

}  // namespace tune::detail
