// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/child/remote_tuning.hpp"
#include "libtune/extra/ahead/group_work.hpp"
#include "libtune/extra/ahead/recheck.hpp"
#include "libtune/extra/ahead/recheck_verdict.hpp"
#include "libtune/store/database/tuning_database.hpp"

namespace tune {

/// Runs recheck with a given function to tune instead of child processes of a program.
/// @param tune       thread-safe
/// @param functions  the autotune functions of the program
std::vector<recheck_result> recheck_with(const remote_tuner& tune,
                                         std::span<const remote_function> functions,
                                         std::span<const stored_winner> winners,
                                         std::span<const device> devices,
                                         const recheck_options& options);

namespace detail {

/// The comparison of one stored result on one device. One thread uses it, once.
class recheck_task {
 public:
  /// All references must outlive it.
  recheck_task(const remote_tuner& tune, const tuning_options& search,
               const recheck_options& options, tuning_database& database,
               std::span<const remote_function> functions)
      : tune_(tune),
        search_(search),
        options_(options),
        database_(database),
        functions_(functions) {}

  /// @param winner    the result to compare
  /// @param children  the number of children that share the cores
  recheck_result run(const stored_winner& winner, const device& device, kept_child& child,
                     std::size_t children);

 private:
  std::string why_skipped(const stored_winner& winner) const;
  const remote_function* find(const function_identity& stored) const;
  comparison compare(const std::vector<std::vector<named_value>>& listed) const;
  void repair(recheck_result& result, const comparison& made) const;

  const remote_tuner& tune_;
  const tuning_options& search_;
  const recheck_options& options_;
  tuning_database& database_;
  std::span<const remote_function> functions_;
  const stored_winner* winner_ = nullptr;
  const device* device_ = nullptr;
  kept_child* child_ = nullptr;
  std::size_t children_ = 1;
};

}  // namespace detail
}  // namespace tune
