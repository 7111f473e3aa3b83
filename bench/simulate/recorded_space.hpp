// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

/// The recorded measurement of a configuration.
struct recording {
  std::optional<double> score_ms{};  ///< less is better; empty if it failed
  std::string failure{};             ///< why it failed, in the words of the file
  double compile_ms = 0;
  double verification_ms = 0;
  double benchmark_ms = 0;  ///< of all samples together, with what surrounds them
  double framework_ms = 0;  ///< what the tuner spent that recorded it
  std::vector<double> samples_ms{};

  /// The cost of the measurement.
  double cost_ms() const noexcept {
    return compile_ms + verification_ms + benchmark_ms + framework_ms;
  }
};

/// A configuration, each parameter once and in the same order everywhere, and what is known of it.
struct recorded_configuration {
  std::vector<value> values;
  recording result;
};

/// A space of which every configuration has been measured, to search in place of a device. Its
/// configurations are those recorded and no others. Never changes; thread-safe; a copy shares the
/// space and copies the recordings.
class recorded_space {
 public:
  /// @param name        what to call it in tables
  /// @param parameters  with all candidates
  /// @throws argument_error if nothing is recorded, a configuration has not one candidate for each
  ///         parameter or is recorded twice, or a score or cost is negative or not finite; and what
  ///         search_space's constructor throws
  recorded_space(std::string name, std::vector<parameter> parameters,
                 std::vector<recorded_configuration> recorded);

  const std::string& name() const noexcept { return name_; }
  const search_space& space() const noexcept { return space_; }
  std::size_t size() const noexcept { return recordings_.size(); }

  /// Of a configuration by its number in the space. The number has to be less than size().
  const recording& operator[](std::size_t index) const { return recordings_[index]; }
  const std::vector<recording>& recordings() const noexcept { return recordings_; }

 private:
  std::string name_;
  search_space space_;
  std::vector<recording> recordings_;  // by number of the configuration
};

}  // namespace tune
