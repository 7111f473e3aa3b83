// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/search/space/decision_diagram.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune::detail {

/// The result of an enumeration.
struct enumeration {
  valid_configurations valid;
  std::vector<std::size_t> removed;  ///< by each restriction; together with valid, these are all
                                     ///< combinations
};

/// Limits on the cost of an enumeration: about a minute, and a gibibyte.
struct enumeration_limits {
  std::size_t visits = std::size_t{1} << 32;  ///< candidates tried in all groups
  std::size_t edges = std::size_t{1} << 26;   ///< kept in the diagram
};

/// Visits the product of each group of connected parameters depth first, and turns back as soon as
/// a restriction refuses whose parameters are all set. Choices that differ only in values that no
/// later restriction reads share one search of the choices below. Restrictions that can be asked at
/// the same depth are asked in the order of the list; a removed combination counts for the first
/// restriction that refused it, in the order of depths.
/// @param restrictions  called through at; their own functions are not called
/// @throws as search_space::size()
enumeration enumerate(std::span<const parameter> parameters,
                      std::span<const restriction> restrictions, combination at,
                      const enumeration_limits& limits = {});

/// A combination with its choice. Begins with the first candidate of every parameter. The spans
/// have to outlive it.
class combination_probe {
 public:
  combination_probe(std::span<const parameter> parameters,
                    std::span<const restriction> restrictions, combination at);

  std::span<const parameter> parameters() const noexcept { return parameters_; }
  std::span<const restriction> restrictions() const noexcept { return restrictions_; }
  std::span<const std::size_t> choice() const noexcept { return choice_; }

  void set(std::size_t parameter, std::size_t candidate) {
    if (choice_[parameter] == candidate) return;
    choice_[parameter] = candidate;
    at_.set(parameter, candidate);
  }

  /// @param known  the parameters with an intended value, for the error's text
  /// @throws error if the restriction throws, with its exception nested
  bool ask(std::size_t restriction, std::span<const std::size_t> known) const {
    try {
      return at_.allowed_by(restriction);
    } catch (...) {
      throw_named(restriction, known);
    }
  }

 private:
  /// Rethrows the current exception with a text.
  [[noreturn]] void throw_named(std::size_t restriction, std::span<const std::size_t> known) const;

  std::span<const parameter> parameters_;
  std::span<const restriction> restrictions_;
  combination at_;
  std::vector<std::size_t> choice_;
};

/// Parameters that restrictions connect, directly or indirectly, in ascending order, with their
/// restrictions in the order of checking.
struct parameter_group {
  std::vector<std::size_t> parameters;
  std::vector<std::size_t> restrictions;
};

/// Groups parameters; the groups are in the order of their first parameters. Restrictions without
/// parameters are in no group. A restriction without a list reads all parameters.
std::vector<parameter_group> group_parameters(std::size_t parameters,
                                              std::span<const restriction> restrictions);

/// The number of parameters that have to be set before the restriction can be checked.
std::size_t depth_of(const restriction& restriction, std::size_t parameters);

/// The restrictions in the order of checking: by depth, then as given.
std::vector<std::size_t> asking_order(std::size_t parameters,
                                      std::span<const restriction> restrictions);

/// The valid combinations of one group.
struct group_enumeration {
  decision_diagram::node root = decision_diagram::none;
  std::size_t combinations = 1;      ///< before any restriction
  std::vector<std::size_t> refused;  ///< the number refused by each of the group's restrictions
};

/// Enumerates one group, and adds its nodes to the diagram.
/// @param left  remaining limits; reduced by the cost
group_enumeration enumerate_group(const parameter_group& group, combination_probe& at,
                                  decision_diagram& diagram, enumeration_limits& left);

}  // namespace tune::detail
