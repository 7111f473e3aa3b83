// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/enumeration.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/space/group_enumeration.hpp"
#include "libtune/search/strategy/random_source.hpp"

namespace tune::detail {
namespace {

class product_walk {
 public:
  product_walk(std::span<const parameter> parameters,
               std::span<const restriction_outline> restrictions, combination at)
      : at_(parameters, restrictions, std::move(at)),
        order_(asking_order(parameters.size(), restrictions)),
        groups_(group_parameters(parameters.size(), restrictions)),
        removed_(restrictions.size(), 0),
        all_parameters_(parameters.size()) {
    std::iota(all_parameters_.begin(), all_parameters_.end(), std::size_t{0});
  }

  enumeration run(enumeration_limits left) {
    enumeration found{is_refused_at_all() ? nothing() : enumerate_groups(left), {}};
    probe(found.allowed);
    found.removed = std::move(removed_);
    return found;
  }

 private:
  // By a restriction that reads no parameter.
  bool is_refused_at_all() {
    for (const std::size_t i : order_) {
      if (depth_of(at_.restrictions()[i], at_.parameters().size()) > 0) return false;
      if (at_.ask(i, {})) continue;
      removed_[i] = 1;
      for (const parameter& item : at_.parameters()) removed_[i] *= item.candidates.size();
      return true;
    }
    return false;
  }

  allowed_choices nothing() const {
    return allowed_choices({}, std::vector<std::size_t>(at_.parameters().size(), 0),
                           {choice_graph::none});
  }

  allowed_choices enumerate_groups(enumeration_limits& left) {
    choice_graph graph;
    std::vector<std::size_t> group_of(at_.parameters().size());
    std::vector<choice_graph::node> roots;
    std::vector<group_enumeration> found;
    for (const parameter_group& group : groups_) {
      for (const std::size_t i : group.parameters) group_of[i] = roots.size();
      found.push_back(enumerate_group(group, at_, graph, left));
      roots.push_back(found.back().root);
    }
    graph.finish();
    count_removed(found, group_of);
    return allowed_choices(std::move(graph), std::move(group_of), std::move(roots));
  }

  // What a restriction refuses in its group goes with everything in other groups that was not
  // refused before it.
  void count_removed(const std::vector<group_enumeration>& found,
                     const std::vector<std::size_t>& group_of) {
    std::vector<std::size_t> surviving;
    for (const group_enumeration& group : found) surviving.push_back(group.combinations);
    for (const std::size_t i : order_) {
      const std::size_t depth = depth_of(at_.restrictions()[i], at_.parameters().size());
      if (depth == 0) continue;
      const std::size_t own = group_of[depth - 1];
      const auto& members = groups_[own].restrictions;
      const auto place = std::ranges::find(members, i) - members.begin();
      const std::size_t refused = found[own].refused[static_cast<std::size_t>(place)];
      removed_[i] = refused;
      for (std::size_t other = 0; other < found.size(); ++other) {
        if (other != own) removed_[i] *= surviving[other];
      }
      surviving[own] -= refused;
    }
  }

  // A restriction that reads what it has not declared is answered from leftovers of the walk. Such
  // a space would be silently wrong, so some combinations are asked again with everything set.
  void probe(const allowed_choices& allowed) {
    if (std::ranges::none_of(at_.restrictions(),
                             [](const auto& item) { return item.reads.has_value(); })) {
      return;
    }
    random_source random(0);
    for (int probes = 0; probes < 256; ++probes) {
      for (const std::size_t i : all_parameters_) {
        at_.set(i, random.below(at_.parameters()[i].candidates.size()));
      }
      const bool listed = allowed.number(at_.choice()).has_value();
      if (is_allowed_here() != listed) throw_undeclared_read();
    }
  }

  bool is_allowed_here() const {
    return std::ranges::all_of(order_, [&](std::size_t i) { return at_.ask(i, all_parameters_); });
  }

  [[noreturn]] void throw_undeclared_read() const {
    std::string suspects;
    for (const restriction_outline& item : at_.restrictions()) {
      if (item.reads) suspects += (suspects.empty() ? "'" : ", '") + item.description + "'";
    }
    throw argument_error(fmt::format(
        "a restriction among {} reads a parameter that it has not declared, or answers differently "
        "each time; declare every parameter that it reads, or none",
        suspects));
  }

  combination_probe at_;
  std::vector<std::size_t> order_;  // of asking
  std::vector<parameter_group> groups_;
  std::vector<std::size_t> removed_;
  std::vector<std::size_t> all_parameters_;
};

}  // namespace

enumeration enumerate(std::span<const parameter> parameters,
                      std::span<const restriction_outline> restrictions, combination at,
                      const enumeration_limits& limits) {
  return product_walk(parameters, restrictions, std::move(at)).run(limits);
}

}  // namespace tune::detail
