// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program that misses a key, for the test that makes it setuid: the file is its argument.
#include "libtune/store/database/missed_keys.hpp"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const tune::function_identity function{"probe", 0, {}, {{"wgs", tune::value_type::int64}}};
  tune::missed_keys(arguments[1]).remember(function, {{}, {"GPU One", "A Platform", "1.0"}});
}
