// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>

#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/console/progress.hpp"
#include "libtune/console/reports.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/extra/formats/t1.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct tune_request {
  std::string file;
  std::string function;
  std::string from;
  std::string application;
};

class json_reporter final : public observer {
 public:
  void search_finished(const search_finished_event& event) override {
    write_json(std::cout, event);
  }
};

/// The name "t1." followed by the problem's name, converted to a function name.
std::string function_name(const t1_problem& problem) {
  std::string name = "t1.";
  for (const char c : problem.name) {
    name += detail::is_letter_or_digit(c) ? c : '_';
  }
  return name;
}

configuration key_of(const t1_problem& problem) {
  configuration key;
  for (std::size_t axis = 0; axis < problem.problem_size.size(); ++axis) {
    key.set(fmt::format("problem_size_{}", "xyz"[axis]),
            static_cast<std::int64_t>(problem.problem_size[axis]));
  }
  for (std::size_t axis = 0; axis < problem.global_size.size(); ++axis) {
    key.set(fmt::format("global_size_{}", "xyz"[axis]), problem.global_size[axis]);
  }
  return key;
}

t1_problem read_problem(const tune_request& request) {
  try {
    return from_t1_text(read_file(request.file));
  } catch (const argument_error& fault) {
    throw argument_error("'" + request.file + "': " + fault.what());
  }
}

void run(invocation& shared, const tune_request& request) {
  if (request.file.empty() == request.from.empty()) {
    throw usage_error("tune takes a problem, or --from with captured frames");
  }
  if (!request.from.empty()) {
    shared.result = pretune_captured(shared, request.from, request.application, {});
    return;
  }
  const t1_problem problem = read_problem(request);
  const device chosen = select_device();
  if (chosen.info().backend != problem.language) {
    throw error(fmt::format(
        "the kernel of '{}' is written in {}, and the device '{}' takes {}; choose another with "
        "LIBTUNE_DEVICE",
        request.file, problem.language, chosen.identity().name, chosen.info().backend));
  }
  const auto [name, version] =
      split_function(request.function.empty() ? function_name(problem) : request.function);
  bare_kernel kernel =
      to_bare_kernel(problem, std::filesystem::path(request.file).parent_path().string());
  kernel.remember({.name = name, .version = version.value_or(0), .key = key_of(problem)});
  tuning_options options{.given_by = option_source::command};
  options.database = shared.database_path();
  if (shared.json) {
    options.observers = {std::make_shared<json_reporter>()};
  } else {
    options.observers = {
        std::make_shared<progress_reporter>(std::cout, is_standard_output_a_terminal()),
        std::make_shared<table_reporter>(std::cout)};
  }
  const tuning_mode mode = resolve_settings(options).mode;
  if (mode != tuning_mode::cached && mode != tuning_mode::defaults) {
    tuning_database(*options.database).require_writable();
  }
  const tuned_kernel best = kernel.tune(chosen.create_context(), options);
  if (!best.trials().empty()) return;
  if (shared.json) return print_json({{"best", plain_json(best.best().values())}});
  print("found in '{}': {} (LIBTUNE_MODE=force tunes anew)\n", *options.database,
        fields_text(best.best().values()));
}

}  // namespace

void add_tune(CLI::App& program, invocation& shared) {
  const auto request = std::make_shared<tune_request>();
  CLI::App* command = program.add_subcommand(
      "tune",
      "Tunes the kernel of a problem in T1, the format of the FAIR Benchmark Hub and Kernel Tuner, "
      "and in KTT's dialect of it, on the device that LIBTUNE_DEVICE chooses, and stores the "
      "trials "
      "and the result. Results are checked where the problem has ReferenceArguments. "
      "LIBTUNE_BUDGET, LIBTUNE_MODE and the other variables count as for autotuners");
  command->add_option("FILE", request->file,
                      "The problem; its kernel lies beside it or in a folder below");
  command
      ->add_option("--function", request->function,
                   "The name under which results are kept: NAME, or NAME__VERSION; otherwise t1. "
                   "and the name of the benchmark")
      ->type_name("NAME");
  command
      ->add_option("--from", request->from,
                   "In place of a problem: tunes the keys of the operations in captured frames, as "
                   "pretune --from does")
      ->type_name("PATH");
  command
      ->add_option("--app", request->application,
                   "With --from: the application, unless its operations are built-in ones")
      ->type_name("FILE");
  command->callback([&shared, request] { run(shared, *request); });
}

}  // namespace tune::cli
