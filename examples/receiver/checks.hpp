// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks that the receiver finds the signals in the samples.
#pragma once

#include <string>
#include <vector>

#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/receiver.hpp"

namespace receiver {

/// One condition and its result.
struct check {
  std::string name;
  bool passed = false;
  std::string found;  ///< the measured figures
};

/// Compares the results of a run with the digitiser's signals in the samples.
std::vector<check> check_results(const settings& sizes, const sky& injected, const telescope& of);

/// Writes a picture: spectra of an antenna and of the beams, the phase of a visibility over
/// frequency, and the flags. @throws tune::error if the file cannot be written
void draw(const std::string& path, const settings& sizes, const sky& injected,
          const results& found);

}  // namespace receiver
