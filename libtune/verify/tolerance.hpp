// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune {

/// How far a result may lie from the answer: |got - expected| <= absolute + relative * |expected|.
/// NaN never passes, and infinity only where the same infinity is expected. Integers are compared
/// by the same rule, so exactly where the right side is less than 1. For a complex element the
/// distance is that of the complex numbers.
struct tolerance {
  double absolute = 1e-6;
  double relative = 0.0;
};

}  // namespace tune
