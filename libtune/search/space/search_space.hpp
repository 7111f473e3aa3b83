// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// A configuration's demand on the device, so that one which the device cannot run is skipped
/// before it is compiled.
struct resources {
  std::array<std::size_t, 3> work_group{1, 1, 1};  ///< work items along x, y and z
  /// Of one work group, as its kernel declares it; at most device_limits::local_memory_bytes.
  std::size_t local_memory_bytes = 0;
  /// Of one work group, as its launch asks for it (nd_range::local_memory_bytes). Together with
  /// what is declared at most device_limits::max_dynamic_local_memory_bytes: CUDA devices have more
  /// of it.
  std::size_t dynamic_local_memory_bytes = 0;

  friend bool operator==(const resources&, const resources&) = default;
};

/// A quantity that varies from configuration to configuration, and its candidate values, in the
/// order of the search.
struct parameter {
  std::string name;               ///< different from all others of the space
  std::vector<value> candidates;  ///< at least one, each once, none NaN

  friend bool operator==(const parameter&, const parameter&) = default;
};

/// A condition that every configuration of a space meets.
struct restriction {
  std::string description;  ///< for messages and reports, such as "the tile fits in local memory"

  /// Returns true if a combination may stay. Its argument is the index of a candidate for each
  /// parameter. It has to answer the same for the same indices, and is called by one thread at a
  /// time.
  std::function<bool(std::span<const std::size_t> choice)> allows;

  /// The indices of the parameters that allows looks at. If they are given, it is called as soon
  /// as these have values, when the others may still have any: much of the space is then never
  /// visited. If they are not, it is taken to look at all of them.
  std::optional<std::vector<std::size_t>> reads = std::nullopt;
};

/// The number of combinations that a restriction has removed.
struct removal {
  std::string description;       ///< of the restriction
  std::size_t combinations = 0;  ///< each counted for one restriction only

  friend bool operator==(const removal&, const removal&) = default;
};

namespace detail {

/// A combination of candidates that changes by one parameter at a time, and the answers of the
/// restrictions to it. Enumeration works on one of these in place, so that a step costs no more
/// than setting what has changed. Parameters, candidates and restrictions go by their index. Used
/// by one thread.
struct combination {
  std::function<void(std::size_t parameter, std::size_t candidate)> set;
  /// Throws whatever the restriction throws.
  std::function<bool(std::size_t restriction)> allowed_by;
};

using combination_factory = std::function<combination()>;

class valid_configurations;

}  // namespace detail

/// The configurations that a search chooses from: every combination of the parameters' candidates
/// that all restrictions allow, numbered from 0 in the order of nested loops, the last parameter
/// innermost. Without parameters there is one configuration, the empty one. This is the space as
/// strategies and reports see it; tune::space<Tuning> makes one for a struct.
///
/// It never changes. A handle: copies mean the same space. Thread-safe. The first call of a
/// function that needs the valid configurations finds them, once, and keeps them without listing
/// them, so a space may have any number of configurations that 64 bits can count.
class search_space {
 public:
  /// @throws argument_error if a parameter has no candidates, two share a name, a candidate is
  ///         given twice or is not a number, there are more combinations than can be counted, or a
  ///         restriction has no function or reads a parameter that does not exist
  explicit search_space(std::vector<parameter> parameters,
                        std::vector<restriction> restrictions = {});
  /// The same, with restrictions that have no function: a combination made by the factory answers
  /// for them. @throws argument_error as the constructor above
  search_space(std::vector<parameter> parameters, std::vector<restriction> restrictions,
               detail::combination_factory make_combination);

  /// The parameters as given. The reference holds as long as a handle of this space exists.
  const std::vector<parameter>& parameters() const noexcept;

  /// The number of combinations before any restriction.
  std::size_t cartesian_size() const noexcept;
  /// The number of configurations.
  /// @throws error           if a restriction throws, with its exception nested
  /// @throws argument_error  if a restriction is found to read more than it has declared, which is
  ///                         looked for at a few hundred combinations, or if connected parameters
  ///                         have too many combinations to find the valid ones
  std::size_t size() const;

  /// The index of each parameter's candidate in a configuration.
  /// @throws argument_error if there is no configuration of this number, and what size() throws
  std::vector<std::size_t> choice(std::size_t index) const;
  /// The number of the configuration with these candidates; empty if a restriction forbids it.
  /// @throws argument_error if these cannot be indices of candidates, and what size() throws
  std::optional<std::size_t> index_of(std::span<const std::size_t> choice) const;

  /// A configuration's values, in the order of the parameters.
  /// @throws argument_error if there is no configuration of this number, and what size() throws
  std::vector<named_value> values(std::size_t index) const;
  /// The number of the configuration with these values; empty if there is none. Values that belong
  /// to no parameter are ignored. @throws what size() throws
  std::optional<std::size_t> find(std::span<const named_value> values) const;

  /// count different configurations, or all if there are fewer, every choice and order of them
  /// equally likely, the same for the same seed on every platform. @throws what size() throws
  std::vector<std::size_t> sample(std::size_t count, std::uint64_t seed) const;

  /// The numbers of combinations that the restrictions removed, in the order in which these were
  /// given. A combination counts once, for the first that refused it; those that could be asked
  /// earlier (see restriction::reads) come first. @throws what size() throws
  std::vector<removal> removals() const;

  /// The valid configurations as a decision diagram, which lives as long as the space.
  /// @throws what size() throws
  const detail::valid_configurations& valid() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// The size and the parts of a space, for events and reports.
struct space_outline {
  std::size_t combinations = 0;         ///< before any restriction; 0 if the space is not known
  std::size_t configurations = 0;       ///< that all restrictions allow
  std::vector<removal> removals{};      ///< the combinations that each restriction removed
  std::vector<parameter> parameters{};  ///< with all candidates

  friend bool operator==(const space_outline&, const space_outline&) = default;
};

/// Returns the outline of a space. @throws what search_space::size() throws
space_outline outline_of(const search_space& space);

/// Returns an unambiguous text of a space: the parameters and candidates in their order, with their
/// types; the description of each restriction and the number of combinations that it removed; the
/// size. Two spaces with equal texts are equal, unless a restriction was changed so that it removes
/// the same number of combinations as before, but others.
/// @throws what search_space::size() throws
std::string canonical_text(const search_space& space);

}  // namespace tune
