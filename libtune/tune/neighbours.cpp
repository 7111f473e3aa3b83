// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The neighbours behind the doors of the core: the one file that knows both.
#include "libtune/base/never_destroyed.hpp"
#include "libtune/tune/device_probes.hpp"
#include "libtune/tune/engine/device_control.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/report_follower.hpp"
#include "libtune/tune/shared_results.hpp"
#include "libtune/tune/tuning_call.hpp"

namespace tune::detail {
namespace {

class neighbours final : public doors {
 public:
  std::shared_ptr<result_source> find_source(const tuning_settings& settings) const override {
    return shared_results::of(settings);
  }
  bool tunes_later(tuning_call& call, bool has_nearest) const override {
    return call.is_tuned_behind(has_nearest);
  }
  void search_begins(const tuning_settings& settings,
                     const function_identity& function) const noexcept override {
    follow_in_report(settings, function);
  }
  void add_probes(metric_sources& to, const metric_sources& given, const tuning_goal& goal,
                  const context& of) const override {
    add_device_probes(to, given, goal, of);
  }
  device_setter& setter() const override { return device_control::shared(); }
};

}  // namespace

const doors& open_doors() noexcept {
  static never_destroyed<neighbours> all;
  return *all;
}

}  // namespace tune::detail
