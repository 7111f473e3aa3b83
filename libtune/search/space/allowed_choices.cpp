// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/allowed_choices.hpp"

#include <utility>

namespace tune::detail {

allowed_choices::allowed_choices(choice_graph graph, std::vector<std::size_t> group_of,
                                 std::vector<choice_graph::node> roots)
    : graph_(std::move(graph)), group_of_(std::move(group_of)), roots_(std::move(roots)), size_(1) {
  for (const choice_graph::node root : roots_) size_ *= graph_.count(root);
}

std::vector<std::size_t> allowed_choices::choice(std::size_t number) const {
  std::vector<std::size_t> chosen;
  chosen.reserve(group_of_.size());
  for (choice_walk walk(*this); !walk.done();) {
    const choice_graph::edge& next = walk.find_number(number);
    chosen.push_back(next.candidate);
    walk.enter(next);
  }
  return chosen;
}

std::optional<std::size_t> allowed_choices::number(std::span<const std::size_t> choice) const {
  if (size_ == 0) return std::nullopt;
  choice_walk walk(*this);
  while (!walk.done()) {
    const choice_graph::edge* next = walk.find(choice[walk.parameter()]);
    if (next == nullptr) return std::nullopt;
    walk.enter(*next);
  }
  return walk.number();
}

choice_walk::choice_walk(const allowed_choices& allowed)
    : allowed_(&allowed), nodes_(allowed.roots()), left_(allowed.size()) {}

const choice_walk::edge* choice_walk::find(std::size_t candidate) const noexcept {
  return allowed_->graph().find(here(), candidate);
}

const choice_walk::edge& choice_walk::find_number(std::size_t number) const noexcept {
  const std::size_t others = left_ / allowed_->graph().count(here());
  return allowed_->graph().find_number(here(), (number - number_) / others);
}

choice_walk::place choice_walk::enter(const edge& chosen) noexcept {
  choice_graph::node& node = nodes_[allowed_->group_of()[depth_]];
  const place before{node, left_, number_};
  // Each choice of this group goes with all that is left to the other groups.
  const std::size_t others = left_ / allowed_->graph().count(node);
  number_ += chosen.before * others;
  left_ = allowed_->graph().count(chosen.to) * others;
  node = chosen.to;
  ++depth_;
  return before;
}

void choice_walk::go_back(const place& before) noexcept {
  --depth_;
  nodes_[allowed_->group_of()[depth_]] = before.node;
  left_ = before.left;
  number_ = before.number;
}

}  // namespace tune::detail
