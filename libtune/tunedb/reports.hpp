// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/store/maintenance/merge.hpp"
#include "libtune/tunedb/exit_code.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {

/// Adds the numbers of another merge.
void add_up(merge_report& sum, const merge_report& other);

json to_json(const merge_report& report);

/// What merges have done, as text or JSON, and what they could not take.
/// @returns part_left if there is such a thing
exit_code print_report(const merge_report& report, bool as_json);

}  // namespace tune::cli
