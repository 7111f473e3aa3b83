// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/console.hpp"
#include "libtune/console/report_follower.hpp"
#include "libtune/search/model/coverage.hpp"
#include "libtune/tune/engine/doors.hpp"

namespace tune::detail {
namespace {

/// Logs the part of the space that a search has tried.
class coverage_log final : public observer {
 public:
  void search_started(const search_started_event& event) override { covers_ = event.covers; }
  void search_finished(const search_finished_event& event) override {
    // A few chosen configurations allow no statement about the space.
    if (!covers_ || event.seeds.stopped) return;
    for (const std::string& line : coverage_of(event).summary()) {
      // The device was logged at the start.
      log(log_level::info, fmt::format("{} ({}): {}", event.subject.function,
                                       to_string(event.subject.arguments), line));
    }
  }

 private:
  bool covers_ = true;
};

void add_observers(std::vector<std::shared_ptr<observer>>& to, const tuning_settings& settings,
                   const function_identity& function, bool is_outermost) {
  to.push_back(std::make_shared<coverage_log>());
  // Not for each search inside this one: a page is about what a person asks for.
  if (!is_outermost || settings.report.empty()) return;
  to.push_back(std::make_shared<report_follower>(settings, function));
}

}  // namespace
}  // namespace tune::detail

extern "C" {
const bool libtune_opens_console = [] {
  tune::detail::open_doors().add_observers = tune::detail::add_observers;
  return true;
}();
}
