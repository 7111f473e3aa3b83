// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/enumeration.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/space/random_source.hpp"

namespace tune::detail {
namespace {

std::string failure_text(const combination_probe& at, std::size_t restriction,
                         std::span<const std::size_t> known, const char* what) {
  std::vector<named_value> values;
  for (const std::size_t i : known) {
    const parameter& item = at.parameters()[i];
    values.push_back({item.name, item.candidates[at.choice()[i]]});
  }
  return fmt::format("the restriction '{}' threw for the combination ({}): {}",
                     at.restrictions()[restriction].description, to_string(values), what);
}

class product_walk {
 public:
  product_walk(std::span<const parameter> parameters, std::span<const restriction> restrictions,
               combination at)
      : at_(parameters, restrictions, std::move(at)),
        order_(asking_order(parameters.size(), restrictions)),
        groups_(group_parameters(parameters.size(), restrictions)),
        removed_(restrictions.size(), 0),
        all_parameters_(parameters.size()) {
    std::iota(all_parameters_.begin(), all_parameters_.end(), std::size_t{0});
  }

  enumeration run(enumeration_limits left) {
    enumeration found{is_refused_at_all() ? nothing() : enumerate_groups(left), {}};
    probe(found.valid);
    found.removed = std::move(removed_);
    return found;
  }

 private:
  // Asks the restrictions that read no parameter.
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

  valid_configurations nothing() const {
    return valid_configurations({}, std::vector<std::size_t>(at_.parameters().size(), 0),
                                {decision_diagram::none});
  }

  valid_configurations enumerate_groups(enumeration_limits& left) {
    decision_diagram diagram;
    std::vector<std::size_t> group_of(at_.parameters().size());
    std::vector<decision_diagram::node> roots;
    std::vector<group_enumeration> found;
    for (const parameter_group& group : groups_) {
      for (const std::size_t i : group.parameters) group_of[i] = roots.size();
      found.push_back(enumerate_group(group, at_, diagram, left));
      roots.push_back(found.back().root);
    }
    diagram.finish();
    count_removed(found, group_of);
    return valid_configurations(std::move(diagram), std::move(group_of), std::move(roots));
  }

  // A combination that a restriction refuses in its group counts once for every combination of the
  // other groups that was not refused before.
  void count_removed(const std::vector<group_enumeration>& found,
                     const std::vector<std::size_t>& group_of) {
    std::vector<std::size_t> surviving;
    surviving.reserve(found.size());
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

  // A restriction that reads undeclared parameters sees values left over from the walk. The space
  // would silently be wrong, so some combinations are checked again with all parameters set.
  void probe(const valid_configurations& valid) {
    if (std::ranges::none_of(at_.restrictions(),
                             [](const auto& item) { return item.reads.has_value(); })) {
      return;
    }
    random_source random(0);
    for (int probes = 0; probes < 256; ++probes) {
      for (const std::size_t i : all_parameters_) {
        at_.set(i, random.below(at_.parameters()[i].candidates.size()));
      }
      const bool listed = valid.number(at_.choice()).has_value();
      if (is_allowed_here() != listed) throw_undeclared_read();
    }
  }

  bool is_allowed_here() const {
    return std::ranges::all_of(order_, [&](std::size_t i) { return at_.ask(i, all_parameters_); });
  }

  [[noreturn]] void throw_undeclared_read() const {
    std::string suspects;
    for (const restriction& item : at_.restrictions()) {
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

combination_probe::combination_probe(std::span<const parameter> parameters,
                                     std::span<const restriction> restrictions, combination at)
    : parameters_(parameters),
      restrictions_(restrictions),
      at_(std::move(at)),
      choice_(parameters.size(), 0) {
  for (std::size_t i = 0; i < parameters.size(); ++i) at_.set(i, 0);
}

void combination_probe::throw_named(std::size_t restriction,
                                    std::span<const std::size_t> known) const {
  try {
    throw;
  } catch (const std::exception& problem) {
    std::throw_with_nested(error(failure_text(*this, restriction, known, problem.what())));
  } catch (...) {
    std::throw_with_nested(
        error(failure_text(*this, restriction, known, "something that is no std::exception")));
  }
}

enumeration enumerate(std::span<const parameter> parameters,
                      std::span<const restriction> restrictions, combination at,
                      const enumeration_limits& limits) {
  return product_walk(parameters, restrictions, std::move(at)).run(limits);
}

}  // namespace tune::detail
