// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/tune/engine/doors.hpp"

namespace tune::detail {

/// Sets device settings by NVML.
///
/// Before a change, the settings to restore are written to a record in a folder of the user (in
/// /dev/shm, else /tmp, whose contents last as long as the settings do: until the next boot). This
/// process keeps the record locked, so any process of the user may restore the settings of a record
/// without a lock.
class device_control final : public device_setter {
 public:
  static device_control& shared();

  void set(const device_info& device, const device_settings& wanted) override;
  void restore(const device_info& device) noexcept override;
  void restore_left_behind() noexcept override;
};

}  // namespace tune::detail
