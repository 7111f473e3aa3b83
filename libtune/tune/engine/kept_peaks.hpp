// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "libtune/device/device_identity.hpp"
#include "libtune/measure/peaks.hpp"

namespace tune::detail {

/// Returns the store of a device's peaks in a database, for this version of libtune. The database
/// is opened on first use; one that cannot be read or written causes one warning, and peaks are
/// then measured and not kept. Null for an empty path.
std::shared_ptr<peak_store> keep_peaks_in(const std::string& database, device_identity of);

}  // namespace tune::detail
