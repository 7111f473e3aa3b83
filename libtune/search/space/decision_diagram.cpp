// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/decision_diagram.hpp"

#include <algorithm>
#include <utility>

namespace tune::detail {
namespace {

std::size_t hash(std::span<const decision_diagram::edge> edges) noexcept {
  std::uint64_t mixed = edges.size();
  for (const decision_diagram::edge& item : edges) {
    mixed ^= (std::uint64_t{item.candidate} << 32) | item.to;
    mixed *= 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 29;
  }
  return mixed;
}

}  // namespace

decision_diagram::decision_diagram() : slots_(64, none) {}

decision_diagram::node decision_diagram::add(std::span<const edge> edges) {
  if (edges.empty()) return none;
  const std::size_t slot = slot_of(edges);
  if (slots_[slot] != none) return slots_[slot];
  const node made = append(edges);
  slots_[slot] = made;
  if (counts_.size() * 2 > slots_.size()) grow();
  return made;
}

void decision_diagram::finish() {
  slots_ = {};
  edges_.shrink_to_fit();
  first_.shrink_to_fit();
  counts_.shrink_to_fit();
}

const decision_diagram::edge* decision_diagram::find(node at,
                                                     std::size_t candidate) const noexcept {
  const std::span<const edge> all = edges(at);
  const auto found = std::ranges::lower_bound(all, candidate, {}, &edge::candidate);
  return found != all.end() && found->candidate == candidate ? &*found : nullptr;
}

const decision_diagram::edge& decision_diagram::find_number(node at,
                                                            std::size_t number) const noexcept {
  return *(std::ranges::upper_bound(edges(at), number, {}, &edge::before) - 1);
}

bool decision_diagram::is_equal(node at, std::span<const edge> given) const noexcept {
  return std::ranges::equal(edges(at), given, [](const edge& a, const edge& b) {
    return a.candidate == b.candidate && a.to == b.to;
  });
}

std::size_t decision_diagram::slot_of(std::span<const edge> edges) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(edges) & mask;
  while (slots_[slot] != none && !is_equal(slots_[slot], edges)) slot = (slot + 1) & mask;
  return slot;
}

decision_diagram::node decision_diagram::append(std::span<const edge> edges) {
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

void decision_diagram::grow() {
  slots_.assign(slots_.size() * 2, none);
  for (node item = end + 1; item < counts_.size(); ++item) slots_[slot_of(edges(item))] = item;
}

valid_configurations::valid_configurations(decision_diagram diagram,
                                           std::vector<std::size_t> group_of,
                                           std::vector<decision_diagram::node> roots)
    : diagram_(std::move(diagram)), group_of_(std::move(group_of)), roots_(std::move(roots)) {
  for (const decision_diagram::node root : roots_) size_ *= diagram_.count(root);
}

std::vector<std::vector<std::size_t>> valid_configurations::groups() const {
  std::vector<std::vector<std::size_t>> members(roots_.size());
  for (std::size_t i = 0; i < group_of_.size(); ++i) members[group_of_[i]].push_back(i);
  return members;
}

std::vector<std::size_t> valid_configurations::choice(std::size_t number) const {
  std::vector<std::size_t> chosen;
  chosen.reserve(group_of_.size());
  for (configuration_walk walk(*this); !walk.done();) {
    const decision_diagram::edge& next = walk.find_number(number);
    chosen.push_back(next.candidate);
    walk.enter(next);
  }
  return chosen;
}

std::optional<std::size_t> valid_configurations::number(std::span<const std::size_t> choice) const {
  if (size_ == 0) return std::nullopt;
  configuration_walk walk(*this);
  while (!walk.done()) {
    const decision_diagram::edge* next = walk.find(choice[walk.parameter()]);
    if (next == nullptr) return std::nullopt;
    walk.enter(*next);
  }
  return walk.number();
}

configuration_walk::configuration_walk(const valid_configurations& valid)
    : valid_(&valid), nodes_(valid.roots()), left_(valid.size()) {}

const configuration_walk::edge* configuration_walk::find(std::size_t candidate) const noexcept {
  return valid_->diagram().find(here(), candidate);
}

const configuration_walk::edge& configuration_walk::find_number(std::size_t number) const noexcept {
  const std::size_t others = left_ / valid_->diagram().count(here());
  return valid_->diagram().find_number(here(), (number - number_) / others);
}

configuration_walk::place configuration_walk::enter(const edge& chosen) noexcept {
  decision_diagram::node& node = nodes_[valid_->group_of()[depth_]];
  const place before{node, left_, number_};
  // Each choice of this group combines with all remaining choices of the other groups.
  const std::size_t others = left_ / valid_->diagram().count(node);
  number_ += chosen.before * others;
  left_ = valid_->diagram().count(chosen.to) * others;
  node = chosen.to;
  ++depth_;
  return before;
}

void configuration_walk::go_back(const place& before) noexcept {
  --depth_;
  nodes_[valid_->group_of()[depth_]] = before.node;
  left_ = before.left;
  number_ = before.number;
}

}  // namespace tune::detail
