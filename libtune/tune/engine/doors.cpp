// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/doors.hpp"

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/tune/tuned_key.hpp"

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

std::shared_ptr<result_source> find_no_source(const tuning_settings& settings) {
  if (!settings.shared_store.empty()) {
    warn_once(
        "results are neither taken from nor sent to the server of LIBTUNE_SHARED_DB: this "
        "program has no part of libtune that speaks to servers; link it and include its "
        "header (libtune/README.md, neighbours)");
  }
  return nullptr;
}

bool tunes_nothing_later(const tuned_key& key, bool) {
  if (key.settings.mode == tuning_mode::behind) {
    warn_once(
        "nothing is tuned in the mode behind: this program has no part of libtune that tunes "
        "behind it; link it and include its header (libtune/README.md, neighbours)");
  }
  return false;
}

void write_no_page(const tuning_settings& settings, const function_identity&) {
  if (settings.report.empty()) return;
  warn_once("'" + settings.report +
            "' is not written: this program has no part of libtune that "
            "writes pages; link it and include its header (libtune/README.md, neighbours)");
}

void add_no_probes(metric_sources&, const metric_sources&, const tuning_goal&, const context&) {
  if (read_environment("LIBTUNE_METRICS")) {
    warn_once(
        "LIBTUNE_METRICS adds nothing: this program has no part of libtune that reads sensors; "
        "link "
        "it and include its header (libtune/README.md, neighbours)");
  }
}

device_setter& refuse_settings() {
  static never_destroyed<no_setter> refuses;
  return *refuses;
}

// Before any other initialisation.
constinit doors of_program{.find_source = find_no_source,
                           .tunes_later = tunes_nothing_later,
                           .search_begins = write_no_page,
                           .add_probes = add_no_probes,
                           .setter = refuse_settings};

}  // namespace

doors& open_doors() noexcept { return of_program; }

}  // namespace tune::detail
