// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "bench/simulate/recorded_space.hpp"

namespace tune::detail {

/// Collects what a reader finds in a file, and finds the candidates where the file does not list
/// them. Used by one thread.
class recording_builder {
 public:
  /// @param parameters  may have no candidates: then those that occur are the candidates, numbers
  ///                    ascending and the rest in the order in which they occur
  explicit recording_builder(std::vector<parameter> parameters);

  const std::vector<parameter>& parameters() const noexcept { return parameters_; }

  /// A configuration that is there already is replaced, for the later one is the newer one.
  void add(recorded_configuration one);

  /// @throws what recorded_space's constructor throws
  recorded_space build(std::string name) &&;

 private:
  std::vector<parameter> parameters_;
  std::vector<recorded_configuration> recorded_;
};

}  // namespace tune::detail
