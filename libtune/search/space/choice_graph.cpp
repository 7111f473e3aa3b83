// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/choice_graph.hpp"

#include <algorithm>

namespace tune::detail {
namespace {

std::size_t hash(std::span<const choice_graph::edge> edges) noexcept {
  std::uint64_t mixed = edges.size();
  for (const choice_graph::edge& item : edges) {
    mixed ^= (std::uint64_t{item.candidate} << 32) | item.to;
    mixed *= 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 29;
  }
  return mixed;
}

}  // namespace

choice_graph::choice_graph() : slots_(64, none) {}

choice_graph::node choice_graph::add(std::span<const edge> edges) {
  if (edges.empty()) return none;
  const std::size_t slot = slot_of(edges);
  if (slots_[slot] != none) return slots_[slot];
  const node made = append(edges);
  slots_[slot] = made;
  if (counts_.size() * 2 > slots_.size()) grow();
  return made;
}

void choice_graph::finish() {
  slots_ = {};
  edges_.shrink_to_fit();
  first_.shrink_to_fit();
  counts_.shrink_to_fit();
}

const choice_graph::edge* choice_graph::find(node at, std::size_t candidate) const noexcept {
  const std::span<const edge> all = edges(at);
  const auto found = std::ranges::lower_bound(all, candidate, {}, &edge::candidate);
  return found != all.end() && found->candidate == candidate ? &*found : nullptr;
}

const choice_graph::edge& choice_graph::find_number(node at, std::size_t number) const noexcept {
  return *(std::ranges::upper_bound(edges(at), number, {}, &edge::before) - 1);
}

bool choice_graph::is_equal(node at, std::span<const edge> given) const noexcept {
  return std::ranges::equal(edges(at), given, [](const edge& a, const edge& b) {
    return a.candidate == b.candidate && a.to == b.to;
  });
}

std::size_t choice_graph::slot_of(std::span<const edge> edges) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(edges) & mask;
  while (slots_[slot] != none && !is_equal(slots_[slot], edges)) slot = (slot + 1) & mask;
  return slot;
}

choice_graph::node choice_graph::append(std::span<const edge> edges) {
  const auto made = static_cast<node>(counts_.size());
  std::size_t count = 0;
  for (const edge& item : edges) {
    edges_.push_back({item.candidate, item.to, count});
    count += counts_[item.to];
  }
  first_.push_back(edges_.size());
  counts_.push_back(count);
  return made;
}

void choice_graph::grow() {
  slots_.assign(slots_.size() * 2, none);
  for (node item = end + 1; item < counts_.size(); ++item) slots_[slot_of(edges(item))] = item;
}

}  // namespace tune::detail
