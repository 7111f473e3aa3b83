// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// standard: 20
#include "libtune/base/fields.hpp"

namespace app {
struct tuning {
  int wgs = 1;
};
LIBTUNE_FIELDS(tuning, wgs)
}  // namespace app
