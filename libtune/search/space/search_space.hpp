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

/// The resources of the device that a configuration needs. A configuration that exceeds the
/// device's is skipped before it is compiled.
struct resources {
  std::array<std::size_t, 3> work_group{1, 1, 1};  ///< work items along x, y and z
  /// Declared by the kernel, per work group; at most device_limits::local_memory_bytes.
  std::size_t local_memory_bytes = 0;
  /// Requested at launch, per work group (nd_range::local_memory_bytes). Together with the declared
  /// memory, at most device_limits::max_dynamic_local_memory_bytes, which is larger on CUDA
  /// devices.
  std::size_t dynamic_local_memory_bytes = 0;

  friend bool operator==(const resources&, const resources&) = default;
};

/// A quantity that varies between configurations, with its candidate values in the order of the
/// search.
struct parameter {
  std::string name;               ///< unique in the space
  std::vector<value> candidates;  ///< at least one; no duplicates, no NaN

  friend bool operator==(const parameter&, const parameter&) = default;
};

/// A condition that every configuration of a space meets.
struct restriction {
  std::string description;  ///< for messages and reports, such as "the tile fits in local memory"

  /// Returns true if a combination is allowed. The argument is the index of a candidate for each
  /// parameter. The result has to be the same for the same indices. Called by one thread at a time.
  std::function<bool(std::span<const std::size_t> choice)> allows;

  /// The indices of the parameters that allows reads. If given, allows is called as soon as these
  /// have values, while the others may still have any: much of the space is then never visited. If
  /// not given, it is assumed to read all of them.
  std::optional<std::vector<std::size_t>> reads = std::nullopt;
};

/// The number of combinations that a restriction has removed.
struct removal {
  std::string description;       ///< of the restriction
  std::size_t combinations = 0;  ///< each counted for one restriction only

  friend bool operator==(const removal&, const removal&) = default;
};

namespace detail {

/// A combination of candidates that changes by one parameter at a time, and the results of the
/// restrictions for it. Enumeration modifies one in place, so that a step only costs setting the
/// changed parameter. Parameters, candidates and restrictions are given by their index. Used by one
/// thread.
struct combination {
  std::function<void(std::size_t parameter, std::size_t candidate)> set;
  /// Throws the restriction's exceptions.
  std::function<bool(std::size_t restriction)> allowed_by;
};

using combination_factory = std::function<combination()>;

class valid_configurations;

}  // namespace detail

/// The configurations that a search chooses from: every combination of the parameters' candidates
/// that all restrictions allow, numbered from 0 in the order of nested loops, the last parameter
/// innermost. Without parameters there is one configuration, the empty one. This class is for
/// strategies and reports; tune::space<Tuning> makes one for a struct.
///
/// Immutable. A handle: copies refer to the same space. Thread-safe. The first call of a function
/// that needs the valid configurations finds them, and keeps them without listing them, so a space
/// may have any number of configurations that fits in 64 bits.
class search_space {
 public:
  /// @throws argument_error if a parameter has no candidates, two share a name, a candidate is
  ///         repeated or NaN, there are too many combinations to count, or a restriction has no
  ///         function or reads a parameter that does not exist
  explicit search_space(std::vector<parameter> parameters,
                        std::vector<restriction> restrictions = {});
  /// Takes restrictions without functions: a combination made by the factory checks them. @throws
  /// argument_error as the constructor above
  search_space(std::vector<parameter> parameters, std::vector<restriction> restrictions,
               detail::combination_factory make_combination);

  /// The parameters as given. The reference is valid while a handle of this space exists.
  const std::vector<parameter>& parameters() const noexcept;

  /// The number of combinations before any restriction.
  std::size_t cartesian_size() const noexcept;
  /// The number of configurations.
  /// @throws error           if a restriction throws, with its exception nested
  /// @throws argument_error  if a restriction reads more than it declares, which is tested at a few
  ///         hundred combinations, or if connected parameters have too many combinations to find
  ///         the valid ones
  std::size_t size() const;

  /// The index of each parameter's candidate in a configuration.
  /// @throws argument_error if there is no configuration of this number; errors of size()
  std::vector<std::size_t> choice(std::size_t index) const;
  /// The number of the configuration with these candidates; empty if a restriction forbids it.
  /// @throws argument_error if the indices are not valid indices of candidates; errors of size()
  std::optional<std::size_t> index_of(std::span<const std::size_t> choice) const;

  /// A configuration's values, in the order of the parameters.
  /// @throws argument_error if there is no configuration of this number; errors of size()
  std::vector<named_value> values(std::size_t index) const;
  /// The values of configuration 0; empty if there is no configuration. Finds it alone, if that
  /// takes few steps. @throws as size()
  std::optional<std::vector<named_value>> first() const;
  /// The number of the configuration with these values; empty if there is no such configuration.
  /// Values of other names are ignored. @throws as size()
  std::optional<std::size_t> find(std::span<const named_value> values) const;

  /// True if find has a number for these values. Asks the restrictions about them alone.
  /// @throws error if a restriction throws, with its exception nested
  bool contains(std::span<const named_value> values) const;

  /// Returns count different configurations, or all if there are fewer; every choice and order of
  /// them is equally likely, and the same for the same seed on every platform. @throws as size()
  std::vector<std::size_t> sample(std::size_t count, std::uint64_t seed) const;

  /// The numbers of combinations that the restrictions removed, in the order of the restrictions. A
  /// combination counts for the first restriction that refused it; restrictions that can be checked
  /// earlier (see restriction::reads) come first. @throws as size()
  std::vector<removal> removals() const;

  /// The valid configurations as a decision diagram, valid while the space lives.
  /// @throws as size()
  const detail::valid_configurations& valid() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// The size and the parts of a space, for events and reports.
struct space_outline {
  std::size_t combinations = 0;         ///< before any restriction; 0 if the space is unknown
  std::size_t configurations = 0;       ///< allowed by all restrictions
  std::vector<removal> removals{};      ///< the combinations that each restriction removed
  std::vector<parameter> parameters{};  ///< with all candidates

  friend bool operator==(const space_outline&, const space_outline&) = default;
};

/// Returns the outline of a space. @throws as search_space::size()
space_outline outline_of(const search_space& space);

/// Returns an unambiguous text of a space: the parameters and candidates in their order, with their
/// types; the description of each restriction and the number of combinations that it removed; the
/// size. Two spaces with equal texts are equal, unless a restriction has changed so that it removes
/// as many combinations as before, but different ones.
/// @throws as search_space::size()
std::string canonical_text(const search_space& space);

}  // namespace tune
