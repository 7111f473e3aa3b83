// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::detail {

/// Starts the page of the settings (tuning_settings::report) for the searches of a function.
/// `tunedb report --follow` updates it every few seconds until some time after the end of this
/// process; it is a process of its own that reads the database and has the lowest priority. A
/// thread of its own starts it at the first call for a page; a later call sends it the name of the
/// function. Without tunedb there is one warning. Thread-safe.
void follow_in_report(const tuning_settings& settings, const function_identity& function) noexcept;

/// Starts the page of the settings for a function as soon as a search of it starts.
class report_follower final : public observer {
 public:
  report_follower(tuning_settings settings, function_identity function)
      : settings_(std::move(settings)), function_(std::move(function)) {}

  void search_started(const search_started_event&) override {
    follow_in_report(settings_, function_);
  }

 private:
  tuning_settings settings_;
  function_identity function_;
};

/// The path of the tunedb that is installed with this libtune, or is in PATH; empty if not found.
/// @param looked_at  receives the searched places
std::string find_tunedb(std::string& looked_at);

}  // namespace tune::detail
