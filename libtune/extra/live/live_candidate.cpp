// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_candidate.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::detail {

void live_candidate::add(std::shared_ptr<live_node> node, const live_options& options) {
  live_swap swap;
  for (const auto& key : node->keys()) {
    swap.built_with.push_back(key == of ? made : key->current);
  }
  if (options.warm) {
    const auto warmed = node->make(swap.built_with, node->queue().context().create_command_queue());
    run_on_zeros(*warmed, options.scratch);
  }
  swap.fresh = node->make_side(swap.built_with);
  const operation& fresh = swap.fresh->made();
  const std::string difference = slot_difference(node->serving->made(), fresh);
  if (!difference.empty()) throw argument_error(difference);
  swap.bindings = live_bindings(fresh);
  swap.node = std::move(node);
  swaps.push_back(std::move(swap));
}

bool live_candidate::drop_unbound() {
  return std::erase_if(swaps, [](const live_swap& each) { return !each.is_bound; }) > 0;
}

void live_candidate::bind() {
  for (live_swap& each : swaps) {
    if (each.node->gone) continue;
    operation& fresh = each.fresh->made();
    each.bindings.bind(fresh);
    each.fresh->record();
    if (each.node->as_graph()) fresh.queue().finish();
    each.seen_fresh = fresh.version();
  }
}

void live_candidate::read_bindings() {
  for (live_swap& each : swaps) {
    if (each.node->gone.load(std::memory_order_relaxed)) continue;
    const operation& before = each.node->serving->made();
    each.is_bound = each.bindings.read(before);
    if (!each.is_bound) {
      each.node->passed_over.store(true, std::memory_order_relaxed);
      continue;
    }
    if (each.node->carry) each.node->carry(before, each.fresh->made());
    each.seen_before = before.version();
  }
}

bool live_candidate::has_changed_graph() const {
  return std::ranges::any_of(swaps, [](const live_swap& each) {
    return each.node->as_graph() && each.node->serving->made().version() != each.seen_before;
  });
}

}  // namespace tune::detail
