// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/doors.hpp"

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

class no_setter final : public device_setter {
 public:
  void set(const device_info& device, const device_settings& wanted) override {
    if (!wanted) return;
    throw error("this program cannot set clocks and power limits of device '" +
                device.identity.name + "': it has no part of libtune that does");
  }
  void restore(const device_info&) noexcept override {}
  void restore_left_behind() noexcept override {}
};

}  // namespace

std::shared_ptr<result_source> doors::find_source(const tuning_settings&) const { return nullptr; }

bool doors::tunes_later(tuning_call&, bool) const { return false; }

void doors::search_begins(const tuning_settings&, const function_identity&) const noexcept {}

void doors::add_probes(metric_sources&, const metric_sources&, const tuning_goal&,
                       const context&) const {}

device_setter& doors::setter() const {
  static never_destroyed<no_setter> refuses;
  return *refuses;
}

}  // namespace tune::detail
