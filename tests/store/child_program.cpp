// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
//   store_child miss <file>
//
// Misses a key, for the test that makes this program setuid.
//
//   store_child store <database> <first row> [<change>]
//
// Stores results and trials until it is killed, and writes the number of each row to standard
// output once it has been told that the row is stored. With a change it kills itself at the n-th
// write, sync or removal. The rows are those of crash_test.
#include <cstdlib>
#include <memory>
#include <string>
#include <unistd.h>

#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/store/samples.hpp"

namespace {

int store(const char* path, std::int64_t row) {
  tune::tuning_database database(path);
  const auto function = tune::testing::sample_function();
  const auto search = database.begin_search(function, tune::testing::sample_key(-1));
  for (;; ++row) {
    database.store(function, tune::testing::sample_key(row), tune::testing::sample_tuning(row), 1);
    if (::write(STDOUT_FILENO, &row, sizeof row) != sizeof row) return 1;
    database.add_trial(search, {.configuration = tune::testing::sample_tuning(row),
                                .outcome = "measured",
                                .message = std::string(3000, 'x')});
  }
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && words[1] == std::string("miss")) {
    tune::missed_keys(words[2]).remember(tune::testing::sample_function(),
                                         tune::testing::sample_key());
    return 0;
  }
  if (count != 4 && count != 5) return 2;
  std::unique_ptr<tune::testing::fault_vfs> vfs;
  if (count == 5) {
    vfs = std::make_unique<tune::testing::fault_vfs>();
    vfs->kill_at(std::atoi(words[4]));
  }
  return store(words[2], std::atoll(words[3]));
}
