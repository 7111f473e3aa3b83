// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a pipeline of four operations that share memory, checks it against the host, and draws it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include "examples/sequence/smoothing.hpp"
#include "libtune/child.hpp"
#include "libtune/console.hpp"

namespace {

struct arguments {
  std::size_t rows = 64;
  std::size_t columns = 5000;
  std::string drawing;
};

void declare(CLI::App& app, arguments& given) {
  app.add_option("--rows", given.rows, "rows of the result")
      ->check(CLI::Range(std::size_t{1}, std::size_t{16384}));
  app.add_option("--columns", given.columns, "columns of the result")
      ->check(CLI::Range(std::size_t{1}, std::size_t{65536}));
  app.add_option("--draw", given.drawing,
                 "draw the pipeline to this file: as SVG if it ends in .svg, which takes Graphviz, "
                 "else as DOT text");
}

void draw(const tune::operation& pipeline, const std::string& path) {
  if (path.ends_with(".svg")) {
    tune::write_svg(pipeline, path, "smoothing");
  } else {
    std::ofstream file(path);
    file << tune::to_dot(pipeline, "smoothing") << std::flush;
    if (!file) throw tune::error("'" + path + "' could not be written");
  }
  std::cout << "Drawn to " << path << '\n';
}

// Lists the pieces of memory, and the slots that share them.
void list_slots(const tune::operation& pipeline) {
  for (const tune::named_slot& each : pipeline.slots()) {
    std::cout << "  " << each.name << ", " << each.slot->required_bytes() << " bytes:";
    for (const tune::named_slot& part : pipeline.hidden_slots()) {
      if (part.slot->owner() == each.slot.get()) std::cout << ' ' << part.name;
    }
    std::cout << '\n';
  }
}

void describe(const tune::operation& pipeline, const tune::operation& apart) {
  std::cout << "Runs: " << tune::to_string(pipeline.parameters()) << "\nBinds:\n";
  list_slots(pipeline);
  std::cout << "Needs " << pipeline.required_bytes() << " bytes, and would need "
            << apart.required_bytes() << " without aliasing\n";
}

tune::host_array<float> make_samples(const tune::shape& size) {
  tune::host_array<float> samples(size);
  for (std::size_t row = 0; row < size[0]; ++row) {
    for (std::size_t x = 0; x < size[1]; ++x) {
      samples(row, x) = static_cast<float>((7 * row + 13 * x) % 101) / 101.0F;
    }
  }
  return samples;
}

double largest_difference(const tune::host_array<float>& a, const tune::host_array<float>& b) {
  double largest = 0;
  for (std::size_t row = 0; row < a.size()[0]; ++row) {
    for (std::size_t x = 0; x < a.size()[1]; ++x) {
      const double difference = std::abs(double{a(row, x)} - double{b(row, x)});
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

int run(const arguments& given) {
  const tune::context context = tune::create_some_context();
  std::cout << "Device: " << context.device().name() << '\n';
  auto queue = context.create_command_queue();
  const smoothing::scale_template scale(context);
  const smoothing::window_template window(context);
  const tune::shape size{given.rows, given.columns};
  auto pipeline = smoothing::make_pipeline(queue, scale, window, size, true);
  describe(pipeline, smoothing::make_pipeline(queue, scale, window, size, false));

  pipeline.ensure_all_bound();
  const auto samples = make_samples(pipeline.buffer("samples").size());
  pipeline.buffer("samples").set(queue, samples);
  pipeline.run();
  const auto sums = pipeline.buffer("sums").get<float>(queue);
  const double difference =
      largest_difference(sums, smoothing::smooth_on_host(samples, window.window()));
  const bool right = difference <= 1e-4;
  std::cout << "Against the host: " << (right ? "right" : "WRONG") << ", largest difference "
            << difference << '\n';
  if (!given.drawing.empty()) draw(pipeline, given.drawing);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    CLI::App app("Runs a pipeline of operations that share memory, and draws it.");
    arguments given;
    declare(app, given);
    CLI11_PARSE(app, argc, argv);
    return run(given);
  } catch (const std::exception& failure) {
    std::cerr << "sequence: " << failure.what() << '\n';
    return 1;
  }
}
