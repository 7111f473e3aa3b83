// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "libtune/cli/commands.hpp"
#include "libtune/cli/evidence.hpp"
#include "libtune/cli/output.hpp"
#include "libtune/cli/selection.hpp"
#include "libtune/store/database_reader.hpp"
#include "libtune/store/tuning_database.hpp"

namespace tune::cli {
namespace {

struct explain_options {
  std::string function;
  std::vector<std::string> arguments;
  device_choice device;
};

void print_text(const function_identity& function, const record_key& key, const record& found,
                const evidence& why) {
  fmt::print("{}, version {}, for {} on {}\n", function.name, function.version,
             fields_text(key.arguments), to_text(key.device));
  fmt::print("would use  {}\n", fields_text(found.values));
  if (found.grade == match_grade::exact) {
    fmt::print("match      exact\n");
  } else {
    fmt::print("match      nearest, only with LIBTUNE_MATCH=nearest: the result of {}\n",
               to_text(found.device));
    fmt::print("relaxed    up to the {}, at a distance of {}: {}\n", match_step_name(found.step),
               found.distance, fmt::join(found.relaxed, ", "));
  }
  fmt::print("time       {}\n", time_text(found.score_ns));
  fmt::print("why        {}\n", why.reason());
  fmt::print("how sure   {}: {}\n", why.verdict(), why.verdict_text());
}

json to_json(const function_identity& function, const record_key& key, const record& found,
             const evidence& why) {
  return {{"function", function.name},
          {"version", function.version},
          {"arguments", cli::to_json(key.arguments)},
          {"device", cli::to_json(key.device)},
          {"values", cli::to_json(found.values)},
          {"match", found.grade == match_grade::exact ? "exact" : "nearest"},
          {"step", match_step_name(found.step)},
          {"distance", found.distance},
          {"relaxed", found.relaxed},
          {"result_of", cli::to_json(found.device)},
          {"score_ns", cli::to_json(found.score_ns)},
          {"why", why.reason()},
          {"sure", why.verdict()},
          {"trials", why.trials},
          {"measured", why.measured},
          {"runner_up_slower_by", cli::to_json(why.gap)},
          {"noise", cli::to_json(why.noise)}};
}

/// A device that is named is the one of that name which the database knows, with all that it knows
/// of it, if there is one.
device_identity find_device(const function_content& content, const device_choice& choice) {
  if (!choice.name.empty()) {
    for (const result_content& result : content.results) {
      if (choice.fits(result.device())) return result.device();
    }
  }
  return choice.identity();
}

void run(const invocation& shared, const explain_options& options) {
  const std::string path = shared.database_path();
  database_reader reader(path);
  const function_identity function = find_function(reader, options.function);
  const record_key key{.arguments = parse_key(function, options.arguments),
                       .device = find_device(reader.read(function, false), options.device)};
  tuning_database database(path, {.read = std::chrono::seconds(10)});
  const auto found = database.find(function, key, match_mode::nearest);
  if (!found) {
    throw nothing_found("no device has a result for " + fields_text(key.arguments) +
                        ", so the function would be tuned; see tunedb show " + function.name);
  }
  const evidence why(database.trials(function, {key.arguments, found->device}), *found);
  if (shared.json) {
    print_json(to_json(function, key, *found, why));
  } else {
    print_text(function, key, *found, why);
  }
}

}  // namespace

void add_explain(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<explain_options>();
  CLI::App* command = program.add_subcommand(
      "explain",
      "What would be used for a key on a device, why, how sure that is, and what had to be "
      "relaxed. "
      "Without --device, for the device that an autotuner would tune for here");
  command->add_option("FUNCTION", options->function, "A name, or NAME__VERSION")->required();
  command->add_option("--arg", options->arguments, "A field of the key, as NAME=VALUE")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  options->device.add_to(*command);
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
