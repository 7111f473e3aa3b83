// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/space/enumeration.hpp"

namespace tune::detail {
namespace {

// Each parameter refers to a smaller one of its group, the smallest to itself.
class disjoint_sets {
 public:
  explicit disjoint_sets(std::size_t size) : parents_(size) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }

  std::size_t first(std::size_t item) const {
    while (parents_[item] != item) item = parents_[item];
    return item;
  }
  void join(std::size_t a, std::size_t b) {
    a = first(a);
    b = first(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parents_;
};

[[noreturn]] void throw_too_big(const parameter_group& group, const combination_probe& at) {
  std::vector<std::string> names;
  for (const std::size_t i : group.parameters) names.push_back(at.parameters()[i].name);
  std::vector<std::string> all;
  std::vector<std::string> without_list;
  for (const std::size_t i : group.restrictions) {
    const restriction& item = at.restrictions()[i];
    all.push_back(fmt::format("'{}'", item.description));
    if (!item.reads) without_list.push_back(all.back());
  }
  const std::string remedy =
      without_list.empty()
          ? "give them fewer candidates, or break up the restriction that reads most of them"
          : fmt::format(
                "declare what {} reads, then only the parameters that belong together are "
                "combined",
                fmt::join(without_list, ", and what "));
  throw argument_error(fmt::format(
      "there are too many combinations of the parameters {}, which are connected by {}, "
      "to find those that are allowed; {}",
      fmt::join(names, ", "), fmt::join(all, ", "), remedy));
}

/// At depth d, the first d parameters of the group have a candidate. Restrictions and parameters
/// are given by their place in the group.
class group_walk {
 public:
  group_walk(const parameter_group& group, combination_probe& at, decision_diagram& diagram,
             enumeration_limits& left)
      : group_(group),
        at_(at),
        diagram_(diagram),
        left_(left),
        below_(group.parameters.size() + 1, 1),
        first_askable_(group.parameters.size() + 2, group.restrictions.size()),
        needed_until_(group.parameters.size(), 0),
        known_(group.parameters.size()),
        refused_(group.restrictions.size(), 0) {
    for (const std::size_t i : group.parameters) {
      candidates_.push_back(at.parameters()[i].candidates.size());
    }
    for (std::size_t depth = size(); depth-- > 0;) {
      below_[depth] = below_[depth + 1] * candidates(depth);
    }
    for (std::size_t i = group.restrictions.size(); i-- > 0;) plan(i);
    for (std::size_t depth = size() + 1; depth-- > 0;) {
      first_askable_[depth] = std::min(first_askable_[depth], first_askable_[depth + 1]);
    }
    for (const std::size_t depth : needed_until_) {
      if (depth < size()) known_[depth].emplace();
    }
    check_unavoidable();
  }

  group_enumeration run() {
    const decision_diagram::node root = visit(0);
    return {root, below_[0], std::move(refused_)};
  }

 private:
  struct finding {
    decision_diagram::node node;
    std::size_t refused_at;  // in pool_
  };
  using findings = std::unordered_map<std::uint64_t, finding>;

  std::size_t size() const { return group_.parameters.size(); }
  std::size_t candidates(std::size_t depth) const { return candidates_[depth]; }
  std::size_t chosen(std::size_t depth) const { return at_.choice()[group_.parameters[depth]]; }

  void plan(std::size_t restriction) {
    const auto place = [&](std::size_t parameter) {
      return static_cast<std::size_t>(std::ranges::lower_bound(group_.parameters, parameter) -
                                      group_.parameters.begin());
    };
    const auto& outline = at_.restrictions()[group_.restrictions[restriction]];
    const std::size_t depth = place(depth_of(outline, at_.parameters().size()) - 1) + 1;
    first_askable_[depth] = restriction;
    for (std::size_t i = 0; i < depth; ++i) {
      const bool read = !outline.reads || std::ranges::find(*outline.reads, group_.parameters[i]) !=
                                              outline.reads->end();
      if (read) needed_until_[i] = std::max(needed_until_[i], depth);
    }
  }

  // Before the first restriction can be checked, nothing can be cut off.
  void check_unavoidable() const {
    if (group_.restrictions.empty()) return;
    std::size_t depth = 0;
    while (first_askable_[depth + 1] == 0) ++depth;
    if (below_[0] / below_[depth] > left_.visits) throw_too_big(group_, at_);
  }

  decision_diagram::node visit(std::size_t depth) {
    if (depth == size()) return decision_diagram::end;
    if (!known_[depth]) return find(depth);
    const std::uint64_t key = key_at(depth);
    const std::size_t first = first_askable_[depth + 1];
    if (const auto known = known_[depth]->find(key); known != known_[depth]->end()) {
      for (std::size_t i = first; i < refused_.size(); ++i) {
        refused_[i] += pool_[known->second.refused_at + i - first];
      }
      return known->second.node;
    }
    const std::vector<std::size_t> before(refused_.begin() + static_cast<std::ptrdiff_t>(first),
                                          refused_.end());
    const finding made{find(depth), pool_.size()};
    for (std::size_t i = first; i < refused_.size(); ++i) {
      pool_.push_back(refused_[i] - before[i - first]);
    }
    known_[depth]->emplace(key, made);
    return made.node;
  }

  decision_diagram::node find(std::size_t depth) {
    const std::size_t base = edges_.size();
    for (std::size_t i = 0; i < candidates(depth); ++i) {
      if (left_.visits-- == 0) throw_too_big(group_, at_);
      at_.set(group_.parameters[depth], i);
      if (const auto refusing = refused_at(depth + 1)) {
        refused_[*refusing] += below_[depth + 1];
        continue;
      }
      const decision_diagram::node below = visit(depth + 1);
      if (below != decision_diagram::none) {
        edges_.push_back({static_cast<std::uint32_t>(i), below, 0});
      }
    }
    const decision_diagram::node made = diagram_.add(std::span(edges_).subspan(base));
    edges_.resize(base);
    if (diagram_.edge_count() > left_.edges) throw_too_big(group_, at_);
    return made;
  }

  std::optional<std::size_t> refused_at(std::size_t depth) const {
    const std::span known = std::span(group_.parameters).first(depth);
    for (std::size_t i = first_askable_[depth]; i < first_askable_[depth + 1]; ++i) {
      if (!at_.ask(group_.restrictions[i], known)) return i;
    }
    return std::nullopt;
  }

  std::uint64_t key_at(std::size_t depth) const {
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < depth; ++i) {
      if (needed_until_[i] > depth) key = key * candidates(i) + chosen(i);
    }
    return key;
  }

  const parameter_group& group_;
  combination_probe& at_;
  decision_diagram& diagram_;
  enumeration_limits& left_;
  std::vector<std::size_t> candidates_;     // of each parameter
  std::vector<std::size_t> below_;          // combinations that share the first d candidates
  std::vector<std::size_t> first_askable_;  // by depth; a range ends where the next begins
  std::vector<std::size_t> needed_until_;   // no restriction beyond this depth reads the parameter
  // By depth, the results for the choices that later restrictions still read; only at depths after
  // which a parameter is no longer read, because at others no result can be met again.
  std::vector<std::optional<findings>> known_;
  std::vector<std::size_t> pool_;              // the refused numbers below each finding
  std::vector<std::size_t> refused_;           // so far
  std::vector<decision_diagram::edge> edges_;  // of the nodes on the path, each after its parent's
};

}  // namespace

std::vector<parameter_group> group_parameters(std::size_t parameters,
                                              std::span<const restriction> restrictions) {
  disjoint_sets sets(parameters);
  for (const restriction& item : restrictions) {
    if (item.reads) {
      for (const std::size_t read : *item.reads) sets.join(read, item.reads->front());
    } else {
      for (std::size_t i = 1; i < parameters; ++i) sets.join(i, 0);
    }
  }
  std::vector<parameter_group> groups;
  std::vector<std::size_t> group_of(parameters);
  for (std::size_t i = 0; i < parameters; ++i) {
    const std::size_t first = sets.first(i);
    if (first == i) groups.emplace_back();
    group_of[i] = first == i ? groups.size() - 1 : group_of[first];
    groups[group_of[i]].parameters.push_back(i);
  }
  for (const std::size_t i : asking_order(parameters, restrictions)) {
    const std::size_t depth = depth_of(restrictions[i], parameters);
    if (depth > 0) groups[group_of[depth - 1]].restrictions.push_back(i);
  }
  return groups;
}

std::size_t depth_of(const restriction& restriction, std::size_t parameters) {
  if (!restriction.reads) return parameters;
  std::size_t depth = 0;
  for (const std::size_t read : *restriction.reads) depth = std::max(depth, read + 1);
  return depth;
}

std::vector<std::size_t> asking_order(std::size_t parameters,
                                      std::span<const restriction> restrictions) {
  std::vector<std::size_t> order(restrictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return depth_of(restrictions[i], parameters); });
  return order;
}

group_enumeration enumerate_group(const parameter_group& group, combination_probe& at,
                                  decision_diagram& diagram, enumeration_limits& left) {
  return group_walk(group, at, diagram, left).run();
}

}  // namespace tune::detail
