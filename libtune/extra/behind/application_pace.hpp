// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "libtune/extra/behind/duty_cycle.hpp"
#include "libtune/extra/behind/gate_page.hpp"
#include "libtune/tune/options.hpp"

namespace tune::detail {

/// Sets the pace of what is tuned behind this application, in its page: the share and the slices
/// that the settings of a key give, slower where heartbeats show that frames are late. Used by the
/// thread of the tuner.
class application_pace {
 public:
  using clock = std::chrono::steady_clock;

  /// @param page  outlives it
  explicit application_pace(gate_page& page) noexcept : page_(page) {}

  /// Another key is tuned from now on.
  void set(const behind_settings& given, bool is_cpu);
  /// Looks at the heartbeats, if it has not done so for a while.
  void look();

 private:
  void set_visit() noexcept;

  gate_page& page_;
  back_off slowdown_;
  double slack_ = 0;
  std::chrono::nanoseconds slice_{0};
  bool has_told_ = false;  // that frames are late, of this key
  clock::time_point looked_{};
};

}  // namespace tune::detail
