// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/tuned_key.hpp"

namespace tune::detail {

/// Has a key tuned behind the application: in the mode behind, or in the mode force, where the new
/// result replaces the old one. Returns false, with a line in the log, if it will not be.
/// @param has_nearest  true if the application uses a result of another device meanwhile
bool request_tuning_behind(const tuned_key& key, bool has_nearest,
                           tuning_mode mode = tuning_mode::tune);

/// Has the key of a call tuned again behind the application. Returns false if it will not be.
bool request_new_tuning_behind(const autotuner_core& core, const context& on,
                               const std::vector<named_value>& key, const tuning_options& options);

/// Tunes the key of a call for others, which use something else meanwhile, and hands them the
/// results (tuning_news). @returns false if the result is kept for this process alone, because it
/// could not be stored @throws tuning_stopped_error, and as autotuner_core::obtain does
bool tune_behind(const autotuner_core& core, const context& on, const std::vector<named_value>& key,
                 const tuning_options& options, const background_task& work);

}  // namespace tune::detail
