// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "libtune/tunedb/report_data.hpp"

namespace tune::cli {

/// The data of a report at one moment.
struct report_state {
  std::string stamp;  ///< other for other contents
  std::string text;   ///< of report_text; its member "stamp" is the stamp
};

/// Reads databases again when their files have changed. Thread-safe.
class report_source {
 public:
  explicit report_source(report_choice choice) : choice_(std::move(choice)) {}

  /// The data as they are now; without any search while the databases have nothing.
  /// @throws database_error
  std::shared_ptr<const report_state> now();

 private:
  std::string stamp() const;

  report_choice choice_;
  std::mutex mutex_;
  std::shared_ptr<const report_state> last_;
};

/// True for the Host of a request to this machine by its own name: localhost, 127.0.0.1 or [::1],
/// with or without a port. The page of another site whose name leads to this machine has another.
bool is_own_host(std::string_view host);

}  // namespace tune::cli
