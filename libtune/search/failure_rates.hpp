// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// How often configurations fail that have a certain candidate on a certain axis: what devices
/// cannot do is mostly the fault of one parameter, and a model of the times does not see it coming
/// where these lead towards it. Fed with numbers only.
class failure_rates {
 public:
  void learn(std::span<const std::uint32_t> point, bool failed);

  /// How much less often those with this candidate succeed than all do, from 0 to 1; 1 where
  /// nothing is known of it.
  double success(std::size_t axis, std::uint32_t candidate) const;

 private:
  struct count {
    double told = 0;
    double failed = 0;
  };

  double usual_success() const;

  std::vector<std::vector<count>> counts_;  // by axis and candidate
  count all_;
};

}  // namespace tune::detail
