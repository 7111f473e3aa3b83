// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "libtune/tunedb/report/report_data.hpp"

namespace tune::cli {

/// The data of a report at one time.
struct report_state {
  std::string stamp;  ///< differs for different contents
  std::string text;   ///< the result of report_data
};

/// Reads databases again when their files have changed.
class report_source {
 public:
  explicit report_source(report_choice choice) : choice_(std::move(choice)) {}

  /// The present data; without searches while the databases are empty.
  /// @throws database_error
  std::shared_ptr<const report_state> now();

 private:
  std::string stamp() const;

  report_choice choice_;
  std::shared_ptr<const report_state> last_;
};

}  // namespace tune::cli
