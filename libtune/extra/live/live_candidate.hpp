// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/live/live.hpp"
#include "libtune/extra/live/live_key.hpp"
#include "libtune/extra/live/live_node.hpp"

namespace tune::detail {

/// A tuning on its way into service.
struct live_candidate {
  std::shared_ptr<live_key> of;  ///< null: only instances of an old template are recreated
  better_tuning found;
  std::shared_ptr<const void> made;
  std::vector<live_swap> swaps;
  std::uint64_t generation = 0;
  int rounds = 0;          ///< number of requests for the bindings
  bool same_bits = false;  ///< compares the bits of results before anything serves
  std::shared_ptr<allocator> scratch{};

  // For libtune's thread; all throw what operations throw.
  /// Makes an operation for an instance. @throws argument_error if its slots differ
  void add(std::shared_ptr<live_node> node, const live_options& options);
  /// Removes the swaps of unbound instances. Returns false without any.
  bool drop_unbound();
  /// Binds what read_bindings has read, and records graphs.
  /// @throws error if the results of one have other bits, and same_bits is set
  void bind();

  // For the pipeline's thread.
  /// Reads the bindings of the operations in service.
  void read_bindings();
  /// True if the operation of a graph has changed since read_bindings.
  bool has_changed_graph() const;

  /// True if it is compared in service.
  bool is_compared(const live_options& options) const noexcept {
    return options.compare && of != nullptr && of->is_by_time() && !swaps.empty();
  }
};

}  // namespace tune::detail
