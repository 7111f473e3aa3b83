// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
//   store_crash_writer <database> <first row> [<change>]
//
// Stores results and trials until it is killed, and writes the number of each row to standard
// output once it has been told that the row is stored. With a change it kills itself at the n-th
// write, sync or removal. The rows are those of crash_row.
#include <cstdlib>
#include <memory>
#include <string>
#include <unistd.h>

#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/store/samples.hpp"

int main(int count, char** words) {
  if (count != 3 && count != 4) return 2;
  std::unique_ptr<tune::testing::fault_vfs> vfs;
  if (count == 4) {
    vfs = std::make_unique<tune::testing::fault_vfs>();
    vfs->kill_at(std::atoi(words[3]));
  }
  tune::tuning_database database(words[1]);
  const auto function = tune::testing::sample_function();
  const auto search = database.begin_search(function, tune::testing::sample_key(-1));
  for (std::int64_t row = std::atoll(words[2]);; ++row) {
    database.store(function, tune::testing::sample_key(row), tune::testing::sample_tuning(row), 1);
    if (::write(STDOUT_FILENO, &row, sizeof row) != sizeof row) return 1;
    database.add_trial(search, {.configuration = tune::testing::sample_tuning(row),
                                .outcome = "measured",
                                .message = std::string(3000, 'x')});
  }
}
