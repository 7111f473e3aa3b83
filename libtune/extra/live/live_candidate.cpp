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
  same_bits = options.same_bits;
  scratch = options.scratch;
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

namespace {

void require_same_bits(const live_swap& swap, const std::shared_ptr<allocator>& scratch) {
  live_node& node = *swap.node;
  const command_queue queue = node.queue().context().create_command_queue();
  std::vector<std::shared_ptr<const void>> in_service;
  for (const auto& key : node.keys()) in_service.push_back(key->current);
  const auto before = node.make(in_service, queue);
  const auto after = node.make(swap.built_with, queue);
  const operation& fresh = swap.fresh->made();
  if (node.carry) {
    node.carry(fresh, *before);
    node.carry(fresh, *after);
  }
  const std::string other = find_other_bits(*before, *after, fresh, scratch);
  if (other.empty()) return;
  throw error("its results in the slot '" + other +
              "' have other bits than those of the tuning in service, and "
              "live_options::same_bits is set");
}

}  // namespace

void live_candidate::bind() {
  for (live_swap& each : swaps) {
    if (each.node->gone) continue;
    operation& fresh = each.fresh->made();
    each.bindings.bind(fresh);
    if (same_bits && !std::exchange(each.has_compared_bits, true)) {
      require_same_bits(each, scratch);
    }
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
