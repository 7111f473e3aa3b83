// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tunes an operation with some configurations that never end, write out of bounds, are wrong, or do
// not compile, while another thread of the same program continues to use the device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "examples/common/choose_device.hpp"
#include "examples/poison/bystander.hpp"
#include "examples/poison/square_root.hpp"
#include "libtune/child.hpp"
#include "libtune/console.hpp"

namespace {

using poison::bystander;
using poison::fault;
using poison::square_root_template;
using poison::square_root_tuning;

struct arguments {
  std::optional<std::size_t> device;
  bool all_devices = false;
  int patience_ms = 2000;
};

void declare(CLI::App& app, arguments& given) {
  app.add_option("--device", given.device, "index of the device (default: the best)");
  app.add_flag("--all-devices", given.all_devices, "one device after the other");
  app.add_option("--patience", given.patience_ms,
                 "how long a configuration may run before it is ended, in milliseconds")
      ->check(CLI::Range(100, 600000));
}

std::vector<tune::device> choose_devices(const arguments& given) {
  if (given.all_devices) return tune::all_devices();
  return {examples::choose_device(given.device)};
}

/// A new folder for the tuning database, so that it has no results for the faulty configurations.
class scratch_folder {
 public:
  scratch_folder()
      : path_(std::filesystem::temp_directory_path() / fmt::format("poison-{}", ::getpid())) {
    std::filesystem::create_directory(path_);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  std::string database() const { return (path_ / "tuning.db").string(); }

 private:
  std::filesystem::path path_;
};

/// Keeps the last search for the verdict.
class search_keeper final : public tune::observer {
 public:
  void search_finished(const tune::search_finished_event& event) override { last_ = event; }
  const tune::search_finished_event& last() const noexcept { return last_; }

 private:
  tune::search_finished_event last_;
};

// The outcomes of a configuration with this fault. A device fault ends the process on a CPU, and
// the context on a GPU.
bool is_expected(fault what, tune::outcome became) {
  switch (what) {
    case fault::endless_loop: return became == tune::outcome::timed_out;
    case fault::device_fault:
      return became == tune::outcome::device_fault || became == tune::outcome::crashed;
    case fault::wrong_result: return became == tune::outcome::wrong_result;
    case fault::compiler_error: return became == tune::outcome::compile_failed;
    case fault::none: break;
  }
  return became == tune::outcome::measured;
}

int count_surprises(const tune::search_finished_event& search) {
  int surprises = 0;
  for (const tune::trial& item : search.trials) {
    const auto tuning = tune::from_values<square_root_tuning>(item.configuration);
    const fault what = fault_of(tuning);
    if (is_expected(what, item.outcome)) continue;
    ++surprises;
    std::cout << fmt::format("UNEXPECTED: {} ({}) became '{}' {}\n",
                             tune::to_string(item.configuration), static_cast<int>(what),
                             outcome_name(item.outcome), item.reason);
  }
  return surprises;
}

std::string describe(const bystander::report& report) {
  const std::string times =
      fmt::format("{} launches, median {:.3f} ms, longest {:.1f} ms", report.launches,
                  report.median.count(), report.longest.count());
  return report.error.empty() ? times + ", no error" : times + ", then: " + report.error;
}

bool tune_beside(bystander& neighbour, const tune::device& device, const arguments& given) {
  const scratch_folder folder;
  const tune::context context = device.create_context();
  const auto search = std::make_shared<search_keeper>();
  tune::tuning_options options;
  options.database = folder.database();
  options.mode = tune::tuning_mode::tune;
  options.given_by = tune::option_source::command;
  options.strategy = "exhaustive";
  options.watchdog.floor = std::chrono::milliseconds(given.patience_ms);
  options.observers = {search, std::make_shared<tune::table_reporter>(
                                   std::cout, tune::table_options{.verbose = true})};
  tune::set_tuning_options(context, options);

  const int size = device.kind() == tune::device_kind::gpu ? 1 << 22 : 1 << 17;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::cout << "The pipeline alone: " << describe(neighbour.take_report()) << std::endl;
  const auto start = std::chrono::steady_clock::now();
  const square_root_template tuned(context, {.size = size});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const bystander::report meanwhile = neighbour.take_report();

  const int surprises = count_surprises(search->last());
  const bool right = is_right_choice(tuned.tuning());
  std::cout << fmt::format("Tuned in {:.1f} s: {}, which is {}\n", elapsed.count(),
                           tune::to_string(tune::to_values(tuned.tuning())),
                           right ? "right" : "WRONG")
            << "The pipeline meanwhile: " << describe(meanwhile) << '\n';
  return right && surprises == 0 && meanwhile.error.empty() && meanwhile.launches > 0;
}

bool show(const tune::device& device, const arguments& given) {
  std::cout << "Device: " << device.name() << " (" << device.platform_name() << " "
            << device.driver_version() << ")\n";
  bystander neighbour(device);
  return tune_beside(neighbour, device, given);
}

int run(const arguments& given) {
  bool well = true;
  for (const tune::device& device : choose_devices(given)) well = show(device, given) && well;
  return well ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  try {
    CLI::App app("Tunes an operation with poisonous configurations beside a running pipeline.");
    arguments given;
    declare(app, given);
    CLI11_PARSE(app, argc, argv);
    return run(given);
  } catch (const tune::no_device_error& failure) {
    std::cerr << "poison: " << failure.what() << '\n';
    return 2;
  } catch (const std::exception& failure) {
    std::cerr << "poison: " << failure.what() << '\n';
    return 1;
  }
}
