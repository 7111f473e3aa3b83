// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Constructs the operation, tuning it if necessary, and multiplies some numbers.
#include <exception>
#include <iostream>

#include "examples/multiply/multiply.hpp"
#include "libtune/child.hpp"

namespace {

int run() {
  // [use]
  const tune::context context = tune::create_some_context();
  auto queue = context.create_command_queue();
  auto operation = multiply_template(context).instantiate(queue, 1000);
  operation.ensure_all_bound();
  tune::host_array<float> numbers({1000});
  numbers.fill(21.0F);
  operation.buffer("data").set(queue, numbers);
  operation.run();
  const float product = operation.buffer("data").get<float>(queue)(999);
  // [use]
  std::cout << "21 * 2 = " << product << " on " << context.device().name() << '\n';
  return product == 42.0F ? 0 : 1;
}

}  // namespace

// [main]
int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    return run();
  } catch (const std::exception& failure) {
    std::cerr << "multiply: " << failure.what() << '\n';
    return 1;
  }
}
// [main]
