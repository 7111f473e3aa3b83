// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/store/merge.hpp"

namespace tune::cli {

/// Adds the numbers of another merge.
void add_up(merge_report& sum, const merge_report& other);

/// What merges have done, as text or JSON.
void print_report(const merge_report& report, bool as_json);

}  // namespace tune::cli
