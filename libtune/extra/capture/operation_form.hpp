// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/extra/capture/captured_frame.hpp"
#include "libtune/operation/operation.hpp"

namespace tune::detail {

/// The present form of an operation, with its children and the slots that they share.
captured_operation_form form_of(const operation& of);

}  // namespace tune::detail
