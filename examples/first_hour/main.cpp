// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The program of docs/first-hour.md: smooths samples, and with the argument "pipeline" finds the
// highest mean of each row.
#include <chrono>
#include <exception>
#include <iostream>
#include <libtune/child.hpp>
#include <libtune/console.hpp>
#include <operations/hreduce/hreduce.hpp>
#include <string_view>

#include "smooth.hpp"

namespace {

constexpr std::size_t rows = 64;
constexpr std::size_t columns = 8192;

tune::host_array<float> make_samples() {
  tune::host_array<float> samples({rows, columns + 15});
  for (std::size_t x = 1000; x < 1016; ++x) samples(5, x) = 3.0F;
  return samples;
}

// [use]
void run_smooth(tune::command_queue queue) {
  auto operation = smooth_template(queue.context()).instantiate(queue, rows, columns);
  operation.ensure_all_bound();
  operation.buffer("src").set(queue, make_samples());
  operation.run();
  std::cout << "mean 1000 of row 5: " << operation.buffer("dest").get<float>(queue)(5, 1000)
            << '\n';
}
// [use]

// [pipeline]
void run_pipeline(tune::command_queue queue) {
  using namespace tune::operations;
  const smooth_template means(queue.context());
  const hreduce_template highest(queue.context(), max_of(tune::dtype::float32));
  tune::operation_sequence pipeline(queue,
                                    {{"smooth", means.instantiate(queue, rows, columns)},
                                     {"highest", highest.instantiate(queue, rows, columns)}},
                                    {{"means", {"smooth:dest", "highest:src"}}});
  pipeline.ensure_all_bound();
  pipeline.buffer("smooth:src").set(queue, make_samples());
  pipeline.run();
  std::cout << "highest mean of row 5: " << pipeline.buffer("highest:dest").get<float>(queue)(5)
            << '\n';
}
// [pipeline]

int run(std::string_view what) {
  const auto begin = std::chrono::steady_clock::now();
  const tune::context context = tune::create_some_context();
  if (what == "pipeline") {
    run_pipeline(context.create_command_queue());
  } else {
    run_smooth(context.create_command_queue());
  }
  std::cout << "done after " << tune::format_run_time(std::chrono::steady_clock::now() - begin)
            << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& failure) {
    std::cerr << "first_hour: " << failure.what() << '\n';
    return 1;
  }
}
