// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "libtune/verify/answer.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/telescope/pfb/reference.hpp"
#include "operations/workload.hpp"

namespace tune::operations {

/// The number of channels is a multiple of this.
inline constexpr std::size_t pfb_channel_multiple = 16;
inline constexpr std::size_t most_pfb_channels = std::size_t{1} << 24;

/// Returns the samples of a row. @throws argument_error for an impossible number of channels
std::size_t step_of(const pfb_key& key, const pfb_shape& shape);

/// A filter bank that the host computes, too: partial work groups, and odd offsets.
struct pfb_case {
  pfb_case(const command_queue& queue, const pfb_key& its_key, const pfb_shape& its_shape,
           pfb_range its_range);

  /// Runs a program, and returns the fault of its spectra; empty if they are right.
  std::optional<std::string> find_wrong(const program& built, const pfb_tuning& tuning) const;

  pfb_key key;
  pfb_shape shape;
  pfb_range range;
  workload work;
  answer expected;
};

}  // namespace tune::operations
