// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tunes a diffusion kernel on the device that this machine has, finds the result again at once, and
// advances a field with it.
#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "examples/common/choose_device.hpp"
#include "examples/diffusion/diffusion.hpp"
#include "examples/diffusion/reference.hpp"
#include "libtune/child.hpp"
#include "libtune/console.hpp"

namespace {

using diffusion::diffusion_key;
using diffusion::diffusion_template;
using diffusion::variant;
using steady = std::chrono::steady_clock;

struct arguments {
  variant kernel = variant::naive;
  std::size_t size = 1024;
  std::optional<std::size_t> device;
  std::string csv;
  std::string json;
  bool verbose = false;
};

/// Stores the result of the last lookup.
class lookup_watcher final : public tune::observer {
 public:
  void looked_up(const tune::lookup_event& event) override { last_ = event; }
  const tune::lookup_event& last() const noexcept { return last_; }

 private:
  tune::lookup_event last_;
};

void declare(CLI::App& app, arguments& given) {
  const std::map<std::string, variant> kernels{
      {"naive", variant::naive}, {"shared", variant::shared}, {"tiled", variant::tiled}};
  app.add_option("--kernel", given.kernel, "naive, shared or tiled")
      ->transform(CLI::CheckedTransformer(kernels));
  app.add_option("--size", given.size, "rows and columns of the field")
      ->check(CLI::Range(std::size_t{3}, std::size_t{32768}));
  app.add_option("--device", given.device, "index of the device (default: the best)");
  app.add_option("--csv", given.csv, "write all trials to this file as CSV");
  app.add_option("--json", given.json, "write all trials to this file as JSON");
  app.add_flag("--verbose", given.verbose, "list each configuration without a time, and why");
}

void describe(const tune::device& device) {
  const tune::device_limits& limits = device.limits();
  std::cout << "Device: " << device.name() << " (" << tune::device_kind_name(device.kind()) << ", "
            << device.platform_name() << " " << device.driver_version() << ")\n"
            << "        " << limits.compute_units << " compute units, work groups of up to "
            << limits.max_work_group_size << ", " << limits.local_memory_bytes / 1024
            << " KiB of local memory\n";
}

std::string milliseconds(steady::duration time) { return tune::format_run_time(time); }

diffusion_template construct(const tune::context& context, const diffusion_key& key,
                             const lookup_watcher& lookups) {
  const auto start = steady::now();
  diffusion_template made(context, key);
  const auto elapsed = steady::now() - start;
  const tune::lookup_event& lookup = lookups.last();
  if (lookup.grade == tune::lookup_grade::miss) {
    std::cout << "Constructed in " << milliseconds(elapsed) << ", tuning included\n";
  } else {
    std::cout << "Constructed in " << milliseconds(elapsed) << ": found "
              << tune::to_string(lookup.values) << " in " << milliseconds(lookup.elapsed)
              << ", the rest is the program\n";
  }
  return made;
}

void run_field(const tune::context& context, const diffusion_template& tuned, std::size_t size) {
  constexpr int steps = 1000;
  auto queue = context.create_command_queue();
  auto step = tuned.instantiate(queue, size, size);
  step.ensure_all_bound();
  const auto field = diffusion::make_hot_points(size);
  step.buffer("u").set(queue, field);
  step.buffer("u_new").set(queue, field);
  const auto start = steady::now();
  for (int i = 0; i < steps; ++i) {
    step.run();
    step.swap();
  }
  queue.finish();
  const std::chrono::duration<double> seconds = steady::now() - start;
  const double points = static_cast<double>(size) * static_cast<double>(size) * steps;
  std::cout << steps << " steps of " << size << " x " << size << " points in "
            << milliseconds(steady::duration(steady::now() - start)) << ": "
            << points / seconds.count() / 1e9 << " billion points/s\n";
}

// True if many steps on the device give the same result as on the host.
bool check_field(const tune::context& context, const diffusion_template& tuned) {
  constexpr std::size_t size = 100;
  constexpr int steps = 100;
  auto queue = context.create_command_queue();
  auto step = tuned.instantiate(queue, size, size);
  step.ensure_all_bound();
  auto expected = diffusion::make_hot_points(size);
  auto next = expected;
  step.buffer("u").set(queue, expected);
  step.buffer("u_new").set(queue, expected);
  for (int i = 0; i < steps; ++i) {
    step.run();
    step.swap();
    diffusion::advance(expected, next);
    std::swap(expected, next);
  }
  const double difference =
      diffusion::largest_difference(expected, step.buffer("u").get<float>(queue));
  const bool right = difference <= 1e-3;
  std::cout << steps << " steps of " << size << " x " << size
            << " points against the host: " << (right ? "right" : "WRONG")
            << ", largest difference " << difference << '\n';
  return right;
}

int run(const arguments& given) {
  const tune::device device = examples::choose_device(given.device);
  describe(device);
  const tune::context context = device.create_context();

  const auto lookups = std::make_shared<lookup_watcher>();
  tune::tuning_options options;
  options.observers = {
      lookups,
      std::make_shared<tune::progress_reporter>(std::cout, tune::is_standard_output_a_terminal()),
      std::make_shared<tune::table_reporter>(std::cout,
                                             tune::table_options{.verbose = given.verbose})};
  if (!given.csv.empty()) {
    options.observers.push_back(std::make_shared<tune::file_reporter>(given.csv, tune::write_csv));
  }
  if (!given.json.empty()) {
    options.observers.push_back(
        std::make_shared<tune::file_reporter>(given.json, tune::write_json));
  }
  tune::set_tuning_options(context, options);

  const diffusion_key key{.kernel = given.kernel, .size = static_cast<int>(given.size)};
  construct(context, key, *lookups);
  std::cout << "Once more:\n";
  const diffusion_template tuned = construct(context, key, *lookups);
  run_field(context, tuned, given.size);
  return check_field(context, tuned) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    CLI::App app("Tunes a diffusion kernel, finds it again, and advances a field with it.");
    arguments given;
    declare(app, given);
    CLI11_PARSE(app, argc, argv);
    return run(given);
  } catch (const std::exception& failure) {
    std::cerr << "diffusion: " << failure.what() << '\n';
    return 1;
  }
}
