// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// The tunings that a child has begun inside of its own, and the configurations of such tunings
/// that ended earlier children.
class inner_tunings {
 public:
  bool empty() const noexcept { return all_.empty(); }
  /// For the next child.
  void clear() noexcept { all_.clear(); }

  // All throw wire_error for events that do not follow each other.
  void begin(nested_tuning what);
  void begin_search(const search_identity& search);
  void end();

  /// The subject of a tuning. @param depth  1 for the outermost
  tuning_subject subject(std::size_t depth, const device_info& device) const;
  /// True if this configuration has ended no child before, in a search that is known.
  bool is_new(std::size_t depth, const trial& ended) const;
  /// Notes a configuration that ended a child, for later children and for the denylist.
  void lose(std::size_t depth, const tuning_subject& subject, const trial& ended);
  /// The configurations that later children do not try.
  const std::vector<lost_inside>& lost() const noexcept { return lost_; }

 private:
  /// A nested autotune function, and its search.
  struct inner_tuning {
    nested_tuning what{};
    std::optional<search_identity> search{};
  };

  std::vector<inner_tuning> all_;  // the outermost first
  std::vector<lost_inside> lost_;
};

}  // namespace tune::detail
