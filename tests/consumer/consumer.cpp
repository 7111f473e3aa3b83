// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>

#include "libtune/base/environment.hpp"
#include "libtune/base/fields.hpp"
#include "libtune/base/log.hpp"
#include "operations/fill/fill.hpp"

#include "scale.kernel.hpp"

struct tuning {
  int wgs = 64;
};
LIBTUNE_FIELDS(tuning, wgs)

int main() {
  for (const auto& variable : tune::environment_variables()) std::cout << variable.name << '\n';
  std::cout << tune::to_string(tune::to_values(tuning{})) << '\n' << embedded::scale_kernel;
  std::cout << tune::operations::tuning_space(tune::operations::fill_key{}).size()
            << " ways to fill\n";
  tune::log(tune::log_level::info, "a package that can be used");
}
