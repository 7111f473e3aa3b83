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
  std::string failure{};             ///< the reason of a failure, in the words of the file
  double compile_ms = 0;
  double verification_ms = 0;
  double benchmark_ms = 0;  ///< the time of all samples together, with overhead
  double framework_ms = 0;  ///< the time of the recording tuner
  std::vector<double> samples_ms{};

  /// The cost of the measurement.
  double cost_ms() const noexcept {
    return compile_ms + verification_ms + benchmark_ms + framework_ms;
  }
};

/// A configuration, each parameter once and in the same order everywhere, and its recording.
struct recorded_configuration {
  std::vector<value> values;
  recording result;
};

/// A space with a measurement of every configuration, for searches without a device. Only the
/// recorded configurations are in it. Immutable; thread-safe; a copy shares the space and copies
/// the recordings.
class recorded_space {
 public:
  /// @param name        its name in tables
  /// @param parameters  with all candidates
  /// @throws argument_error without recordings, if a configuration does not have exactly one
  ///         candidate for each parameter or is recorded twice, or a score or cost is negative or
  ///         not finite; and the errors of search_space's constructor
  recorded_space(std::string name, std::vector<parameter> parameters,
                 std::vector<recorded_configuration> recorded);

  const std::string& name() const noexcept { return name_; }
  const search_space& space() const noexcept { return space_; }
  std::size_t size() const noexcept { return recordings_.size(); }

  /// The recording of a configuration by its number in the space, which must be less than size().
  const recording& operator[](std::size_t index) const { return recordings_[index]; }
  const std::vector<recording>& recordings() const noexcept { return recordings_; }

 private:
  std::string name_;
  search_space space_;
  std::vector<recording> recordings_;  // by number of the configuration
};

}  // namespace tune
