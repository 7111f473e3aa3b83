// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/metrics_exporter.hpp"

#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/extra/metrics.hpp"
#include "libtune/extra/metrics/key_tally.hpp"
#include "libtune/extra/metrics/metrics_core.hpp"
#include "libtune/extra/metrics/metrics_settings.hpp"
#include "libtune/tune/engine/doors.hpp"

namespace tune {

metrics_exporter::metrics_exporter(metrics_options options) {
  detail::refuse_if_forked([] { return "make a metrics exporter"; });
  core_ =
      std::make_shared<detail::metrics_core>(detail::complete_by_environment(std::move(options)));
}

bool metrics_exporter::is_on() const noexcept { return core_->is_on(); }

void metrics_exporter::add(source adds) const { core_->add(std::move(adds)); }

std::string metrics_exporter::text(metrics_format format) const { return core_->text(format); }

bool metrics_exporter::write() const { return core_->write(); }

metrics_counts metrics_exporter::counts() const noexcept { return core_->counts(); }

std::string metrics_exporter::last_failure() const { return core_->last_failure(); }

}  // namespace tune

namespace tune::detail {
namespace {

/// Counts an event, unless memory has run out.
template <class... Event>
void note(const Event&... event) noexcept {
  try {
    key_tally::shared().note(event...);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace
}  // namespace tune::detail

extern "C" {
const bool libtune_opens_metrics = [] {
  using namespace tune;
  detail::open_doors().answered = [](const tuning_subject& subject,
                                     detail::tuning_origin origin) noexcept {
    detail::note(subject, origin);
  };
  detail::open_doors().live_changed = [](const live_event& event) noexcept { detail::note(event); };
  return true;
}();
}
