// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune {

/// How far a result may lie from the answer: |got - expected| <= absolute + relative * |expected|.
/// NaN never passes. Integers are compared by the same rule, exactly where both are 0. For a
/// complex element the distance is that of the complex numbers.
struct tolerance {
  double absolute = 1e-6;
  double relative = 0.0;
};

}  // namespace tune
