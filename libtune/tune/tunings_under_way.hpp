// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// Says that this thread tunes something, for as long as it lives. They end in the reverse order.
class [[nodiscard]] tuning_under_way {
 public:
  /// @param subject  outlives this
  explicit tuning_under_way(const tuning_subject& subject);
  ~tuning_under_way();
  tuning_under_way(const tuning_under_way&) = delete;
  tuning_under_way& operator=(const tuning_under_way&) = delete;

 private:
  friend bool is_under_way(const tuning_subject& subject);

  const tuning_subject& subject_;
  const tuning_under_way* const before_;
};

/// Whether this thread tunes just that, for the same device. In a child that tunes for another
/// process nothing else knows: it is the parent that holds the lock of the key.
bool is_under_way(const tuning_subject& subject);

}  // namespace tune::detail
