// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// standard: 20
// says: LIBTUNE_FIELDS has to list every member
#include "libtune/base/fields.hpp"

struct tuning {
  int wgs = 1;
  int rows = 1;
};
LIBTUNE_FIELDS(tuning, wgs)
