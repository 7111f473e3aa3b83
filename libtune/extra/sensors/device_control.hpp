// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/tune/engine/doors.hpp"

namespace tune::detail {

/// The device_setter of NVML.
///
/// Before anything is set, the settings to restore are written to a record in a folder of the user
/// (in /dev/shm, else /tmp, whose contents last as long as the settings do: until the next boot),
/// which stays locked by this process. So any process of the user that finds
/// a record without a lock may restore it.
class device_control final : public device_setter {
 public:
  static device_control& shared();

  void set(const device_info& device, const device_settings& wanted) override;
  void restore(const device_info& device) noexcept override;
  void restore_left_behind() noexcept override;
};

}  // namespace tune::detail
