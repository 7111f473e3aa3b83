// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// standard: 20
// says: a member of a key or tuning is bool, an integer
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"

struct tuning {
  int wgs = 1;
  std::vector<int> shape;
};
LIBTUNE_FIELDS(tuning, wgs, shape)

const tune::autotuner<tuning, tuning> autotune{
    {.name = "bad", .version = 0, .test = {}},
    [](tune::tuning_session&, const tuning& key) { return key; }};
