// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The operations of the receiver that a captured frame contains (docs/capture.md).
#include <fmt/format.h>

#include "examples/receiver/receiver.hpp"

namespace receiver {

// The corner turn only copies, so a frame has its input and the voltages that it makes, and not the
// turn of each antenna.
void telescope::prepare_capture() {
  for (std::size_t a = 0; a < antennas_.size(); ++a) {
    antenna& of = *antennas_[a];
    of.channelised = capture_.add(
        fmt::format("channelise {}", a), *of.replay,
        {.unchanged = {"filter:samples", "filter:weights"}, .overwritten = {"spectra"}});
    of.quantised =
        capture_.add(fmt::format("quantise {}", a), of.quantise,
                     {.unchanged = {"spectra", "delay", "phase", "gains"}, .overwritten = {"out"}});
  }
  correlated_ = capture_.add("correlate", *correlate_replay_, {.unchanged = {"in"}});
  formed_ = capture_.add("beamform", *beamform_,
                         {.unchanged = {"in", "weights", "delays"}, .overwritten = {"out"}});
  dumped_ = capture_.add("dump", *dump_replay_, {.unchanged = {"reduce:visibilities"}});
  capture_.prepare();
}

}  // namespace receiver
