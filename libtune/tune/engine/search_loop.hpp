// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "libtune/tune/engine/compile_service.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// Tries what the strategy proposes, tells the observers, and finds the best: the least score, the
/// earlier configuration of the space where two are equal.
///
/// It resumes the unfinished search of the prior knowledge, if the kernel is still the same: what
/// was tried there counts as tried here, also against the limits of the strategy. What is known not
/// to compile is not compiled, unless nothing else could be measured: what is remembered may make a
/// search shorter, not make it fail. What is denied is never run.
/// @param service   where programs are compiled meanwhile
/// @param read_prior  the prior knowledge, read once; empty: there is none
/// @param shortlist  if not empty, only these are tried, in this order, whatever the strategy
/// @throws empty_space_error if there is nothing to try, tuning_failed_error if nothing could be
///         measured, device_fault_error if the device's context was lost, argument_error if the
///         options name no known strategy
trial run_search(const search_problem& problem, const tuning_subject& subject, const device& device,
                 const tuning_options& options,
                 std::span<const std::shared_ptr<observer>> observers, const wall_clock& now,
                 compile_service& service, const std::function<prior_knowledge()>& read_prior = {},
                 const std::vector<std::size_t>& shortlist = {}, const step_hooks& hooks = {});

}  // namespace tune
