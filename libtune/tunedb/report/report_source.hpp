// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "libtune/tunedb/report/report_data.hpp"

namespace tune::cli {

/// The data of a report at one moment.
struct report_state {
  std::string stamp;  ///< other for other contents
  std::string text;   ///< of report_text
};

/// Reads databases again when their files have changed.
class report_source {
 public:
  explicit report_source(report_choice choice) : choice_(std::move(choice)) {}

  /// The data as they are now; without any search while the databases have nothing.
  /// @throws database_error
  std::shared_ptr<const report_state> now();

 private:
  std::string stamp() const;

  report_choice choice_;
  std::shared_ptr<const report_state> last_;
};

}  // namespace tune::cli
