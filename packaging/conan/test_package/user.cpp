// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Uses the installed package: fills an array on each device, with a given tuning.
#include <algorithm>
#include <iostream>
#include <libtune/libtune.hpp>

#include "operations/fill/fill.hpp"

int main() {
  using tune::operations::fill_template;
  for (const tune::device& device : tune::all_devices()) {
    const tune::context context = device.create_context();
    tune::command_queue queue = context.create_command_queue();
    auto fill =
        fill_template(context, tune::dtype::int32, {{.wgs = 64}}).instantiate(queue, {1000});
    fill.ensure_all_bound();
    fill.set_value(7);
    fill.run();
    const auto filled = fill.buffer("data").get<int>(queue);
    if (!std::all_of(filled.data(), filled.data() + 1000, [](int value) { return value == 7; })) {
      std::cerr << device.name() << ": the array is not filled\n";
      return 1;
    }
    std::cout << "filled an array on " << device.name() << '\n';
  }
}
