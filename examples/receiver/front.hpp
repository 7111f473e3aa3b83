// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The channeliser of one antenna as a sequence of operations, and its tuning as a whole.
#pragma once

#include <optional>

#include "examples/receiver/digitiser.hpp"
#include "libtune/extra/sequence.hpp"
#include "libtune/libtune.hpp"
#include "operations/fft/fft.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/telescope/quantise/quantise.hpp"

namespace receiver {

tune::operations::pfb_key filter_key(const settings& sizes);
tune::operations::pfb_shape filter_shape(const settings& sizes);
tune::operations::fft_description transform_of(const settings& sizes);
tune::operations::fft_key transform_key(const settings& sizes);
tune::operations::quantise_key quantise_key_of(const settings& sizes);
tune::operations::quantise_shape quantise_shape_of(const settings& sizes);

/// The tunings of the channeliser; an empty one is found by the operation's own autotuner.
struct front_tunings {
  std::optional<tune::operations::pfb_tuning> filter{};
  std::optional<tune::operations::fft_tuning> transform{};
  std::optional<tune::operations::quantise_tuning> quantise{};
};

/// The compiled parts of the channeliser, for all antennas.
struct front_templates {
  front_templates(const tune::context& context, const settings& sizes,
                  const front_tunings& tunings);

  tune::operations::pfb_template filter;
  tune::operations::fft_template transform;
  tune::operations::quantise_template quantise;
};

/// Filter, transform and quantisation of one antenna. Slots as in the operations, with spectra
/// between the filter and the transform, and channels between the transform and the quantisation.
tune::operation_sequence make_front(const tune::command_queue& queue, const settings& sizes,
                                    const front_templates& made);

/// Finds the tunings that are best in combination.
front_tunings tune_together(const tune::context& context, const settings& sizes);

/// Times the channeliser of an antenna with these tunings, on random samples.
tune::sequence_times time_front(const tune::context& context, const settings& sizes,
                                const front_tunings& tunings);

}  // namespace receiver
