// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/extra/metrics/metrics_exporter.hpp"

namespace tune::detail {

/// Completes options by the environment, and checks them.
/// @throws environment_error; argument_error for options without meaning
metrics_options complete_by_environment(metrics_options options);

}  // namespace tune::detail
