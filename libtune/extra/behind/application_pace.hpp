// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "libtune/extra/behind/duty_cycle.hpp"
#include "libtune/extra/behind/gate_page.hpp"
#include "libtune/tune/options.hpp"

namespace tune::detail {

/// Sets the pace of the tuning behind this application, in its page: the share and the slices from
/// the settings of a key, slower if heartbeats show late frames. Used by the thread of the tuner.
class application_pace {
 public:
  using clock = std::chrono::steady_clock;

  /// @param page  must outlive this
  explicit application_pace(gate_page& page) noexcept : page_(page) {}

  /// Sets the pace for another key.
  void set(const behind_settings& given, bool is_cpu);
  /// Checks the heartbeats, unless it has just done so.
  void look();

 private:
  void set_visit() noexcept;

  gate_page& page_;
  back_off slowdown_;
  double slack_ = 0;
  std::chrono::nanoseconds slice_{0};
  bool has_told_ = false;  // has logged late frames, for this key
  clock::time_point looked_{};
};

}  // namespace tune::detail
