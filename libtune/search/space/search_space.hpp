// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/search/space/restriction.hpp"

namespace tune {

/// Something that may be varied, and the values that it may take, in the order of the search.
struct parameter {
  std::string name;               ///< different from all others of the space
  std::vector<value> candidates;  ///< at least one, each once, none NaN
};

namespace detail {
class allowed_choices;
}

/// The configurations that a search chooses from: every combination of the parameters' candidates
/// that all restrictions allow, numbered from 0 in the order of nested loops, the last parameter
/// innermost. Without parameters there is one configuration, the empty one. This is the space as
/// strategies and reports see it; tune::space<Tuning> makes one for a struct.
///
/// It never changes. A handle: copies mean the same space. Thread-safe: the allowed combinations
/// are found when somebody first needs them, once, and kept without listing them, so a space may
/// have any number of configurations that 64 bits can count. The functions marked (e) may be that
/// first call, and may throw what tune::detail::enumerate throws.
class search_space {
 public:
  /// @throws argument_error if a parameter has no candidates, two share a name, a candidate is
  ///         given twice or is not a number, there are more combinations than can be counted, or a
  ///         restriction reads a parameter that does not exist
  explicit search_space(std::vector<parameter> parameters,
                        std::vector<restriction> restrictions = {});
  /// The same, with restrictions that only a combination made by the factory can answer.
  search_space(std::vector<parameter> parameters,
               std::vector<detail::restriction_outline> restrictions,
               detail::combination_factory make_combination);

  /// The parameters as given. The reference holds as long as a handle of this space exists.
  const std::vector<parameter>& parameters() const noexcept;

  /// The combinations before any restriction.
  std::size_t cartesian_size() const noexcept;
  /// The configurations. (e)
  std::size_t size() const;

  /// For each parameter the index of its candidate in a configuration. (e)
  /// @throws argument_error if there is no configuration of this number
  std::vector<std::size_t> choice(std::size_t index) const;
  /// The number of the configuration with these candidates; empty if a restriction forbids it. (e)
  /// @throws argument_error if these cannot be indices of candidates
  std::optional<std::size_t> index_of(std::span<const std::size_t> choice) const;

  /// A configuration's values, in the order of the parameters. (e)
  /// @throws argument_error if there is no configuration of this number
  std::vector<named_value> values(std::size_t index) const;
  /// The number of the configuration with these values; empty if there is none. Values that belong
  /// to no parameter are ignored. (e)
  std::optional<std::size_t> find(std::span<const named_value> values) const;

  /// count different configurations, or all if there are fewer, every choice and order of them
  /// equally likely, the same for the same seed on every platform. (e)
  std::vector<std::size_t> sample(std::size_t count, std::uint64_t seed) const;

  /// What the restrictions removed, in the order in which they were given. A combination counts
  /// once, for the first that refused it; those that could be asked earlier (see
  /// restriction::reads) come first. (e)
  std::vector<removal> removals() const;

  /// For what walks the space itself. Lives as long as the space. (e)
  const detail::allowed_choices& allowed() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// Unambiguous text of what makes a space: parameters and candidates in their order, with their
/// types; what each restriction is called and how many combinations it removed; the size. Two
/// spaces with equal texts are equal, unless a restriction was changed in such a way that it
/// removes as many combinations as before, but others. Enumerates the space, and may throw what
/// search_space::size() throws.
std::string canonical_text(const search_space& space);

}  // namespace tune
