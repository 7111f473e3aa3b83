// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune {

/// Whose results a lookup may return.
enum class match_mode {
  exact,   ///< only of this device, platform and driver version
  nearest  ///< else of the nearest device that has one for the same arguments
};

/// Whose result a lookup returned. A nearest match never passes for an exact one.
enum class match_grade { exact, nearest };

}  // namespace tune
