// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/extra/bare/configuration.hpp"
#include "libtune/extra/deadline/pipeline_space.hpp"

namespace tune::detail {

/// The candidates of a live pipeline in the order of their trials: those of a list, or those that
/// differ from the configuration in service by one knob. None is tried again after it has lost; one
/// that was taken back for a single frame, which the machine may have caused, is tried once more.
class knob_candidates {
 public:
  /// @throws argument_error for a start or a candidate that is not in the space
  knob_candidates(const pipeline_space& space, const configuration& start,
                  const std::vector<configuration>& list);

  /// The next one; empty without one.
  std::optional<configuration> next() const;
  /// Notes a loss. @param for_one_frame  its loss may be an accident
  void note_loss(const configuration& of, bool for_one_frame);
  /// Notes that a candidate is now in service.
  void note_service(const configuration& of);

 private:
  std::size_t index_of(const configuration& of) const;
  std::size_t losses(std::size_t index) const;
  std::vector<std::size_t> neighbours() const;

  search_space space_;
  std::vector<std::size_t> list_;
  std::size_t in_service_;
  std::vector<std::pair<std::size_t, std::size_t>> losses_;  // of configurations
};

}  // namespace tune::detail
