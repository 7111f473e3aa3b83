// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The commands that explain the present settings: explain, path and env.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "libtune/base/environment.hpp"
#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/extra/shared/result_provenance.hpp"
#include "libtune/store/files/store_url.hpp"
#include "libtune/tunedb/bit_groups.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/explanation.hpp"
#include "libtune/tunedb/layers.hpp"
#include "libtune/tunedb/locked_results.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct explain_options {
  std::string function;
  std::vector<std::string> arguments;
  device_choice device;
};

/// The explanation of a key.
struct explanation {
  function_identity function;
  record_key key;
  tuning_settings settings;
  std::vector<layer> layers;
  lookup_explanation lookup;
  std::optional<result_origin> origin;      // the origin of the best result
  std::optional<result_provenance> source;  // the source of the best result, if it was pulled
  std::optional<result_bits> bits;          // of the best result's search
};

const char* grade_name(const record& result) {
  return result.grade == match_grade::exact ? "exact" : "nearest";
}

std::string role_of(const explanation& all, const record& result) {
  for (const layer& one : all.layers) {
    if (one.path == result.database) return one.role;
  }
  return "-";
}

void print_match(const record& best) {
  if (best.grade == match_grade::exact) {
    print("match      exact\n");
    return;
  }
  print("match      nearest: the result of {}\n", to_text(best.device));
  cli::print("differs    {}: {}\n", match_step_name(best.step), fmt::join(best.relaxed, ", "));
}

/// True if the search of a result stopped after its seeds, according to the database.
bool is_good_enough(const result_origin& origin) {
  return origin.seeds && origin.ending == "target" && !origin.seeds->is_whole &&
         origin.seeds->loss_bound.has_value();
}

void print_seeds(const result_origin& origin) {
  if (!origin.seeds) return;
  const stored_seeds& seeds = *origin.seeds;
  if (seeds.is_whole) {
    print("searched   to its own end, which no limit brought forward\n");
  } else if (is_good_enough(origin)) {
    print(
        "searched   {} configurations that did well for similar keys; good enough: it may lose {}"
        "{:.2g} % in nine of ten cases, as {} similar searches say\n",
        seeds.tried,
        seeds.expected_loss ? fmt::format("{:.2g} % on average, ", 100 * *seeds.expected_loss) : "",
        100 * *seeds.loss_bound, seeds.judges);
  } else {
    print("searched   a part of the space\n");
  }
}

json seeds_json(const std::optional<result_origin>& origin) {
  if (!origin || !origin->seeds) return nullptr;
  return {{"whole", origin->seeds->is_whole},
          {"stopped_after_seeds", is_good_enough(*origin)},
          {"seeds", origin->seeds->tried},
          {"similar_searches", origin->seeds->judges},
          {"expected_loss", number_or_null(origin->seeds->expected_loss)},
          {"loss_bound", number_or_null(origin->seeds->loss_bound)}};
}

void print_origin(const std::optional<result_origin>& origin) {
  if (!origin) {
    print("origin     not known: a change of its kernel or space is not noticed\n");
    return;
  }
  print("origin     searched {} by libtune {}, space {}, programs {}\n", origin->searched_at,
        origin->search.library_version.empty() ? "-" : origin->search.library_version,
        origin->search.space.empty() ? "-" : origin->search.space,
        origin->programs.empty() ? "-" : fmt::format("{}", fmt::join(origin->programs, " ")));
  print("inputs     {}\n",
        origin->search.inputs.empty() ? "those of the author" : origin->search.inputs);
}

void print_bits(const explanation& all) {
  const std::string text = all.bits ? all.bits->text() : std::string();
  if (text.empty()) return;
  const bool are_asked = detail::split_name(all.function.name).second.same_bits;
  print("bits       {}{}\n", text,
        are_asked ? "; it has the bits of the test default, as the goal asks" : "");
}

json bits_json(const std::optional<result_bits>& bits) {
  if (!bits || bits->all.sizes().empty()) return nullptr;
  const auto number = [](const std::optional<std::size_t>& group) {
    return group ? json(*group + 1) : json(nullptr);
  };
  return {{"groups", bits->all.sizes()},
          {"result", number(bits->of_result)},
          {"runner_up", number(bits->of_runner_up)}};
}

json to_json(const std::optional<result_provenance>& source) {
  if (!source) return nullptr;
  return {{"store", source->store},
          {"pushed_by", source->pushed_by},
          {"pushed_from", source->pushed_from},
          {"pushed_at", source->pushed_at},
          {"pulled_at", source->pulled_at}};
}

json to_json(const std::optional<result_origin>& origin) {
  if (!origin) return nullptr;
  return {{"searched_at", origin->searched_at},
          {"space", origin->search.space},
          {"compiler", origin->search.compiler},
          {"library_version", origin->search.library_version},
          {"programs", origin->programs},
          {"inputs", origin->search.inputs.empty() ? "author" : origin->search.inputs}};
}

json to_json(const explanation& all, const candidate& one) {
  const record& result = one.result;
  return {{"database", result.database},
          {"layer", role_of(all, result)},
          {"values", plain_json(result.values)},
          {"match", grade_name(result)},
          {"step", match_step_name(result.step)},
          {"relaxed", result.relaxed},
          {"result_of", plain_json(result.device)},
          {"score_ns", number_or_null(result.score_ns)},
          {"lost", one.lost.empty() ? json(nullptr) : json(one.lost)}};
}

void print_text(const explanation& all, const result_confidence& why) {
  const record& best = all.lookup.candidates.front().result;
  const bool used = all.lookup.answer() != nullptr;
  print("{}, version {}, for {} on {}\n", all.function.name, all.function.version,
        fields_text(all.key.arguments), to_text(all.key.device));
  for (const layer& one : all.layers) {
    print("looked in  {}, {}: {}\n", one.path, one.role, one.state());
  }
  print("settings   LIBTUNE_MATCH={}, LIBTUNE_MODE={}\n", match_mode_name(all.settings.match),
        tuning_mode_name(all.settings.mode));
  print("goal       {}\n", goal_text(all.function));
  print("what then  {}\n", all.lookup.text(all.settings));
  print("{}  {}, in {}\n", used ? "would use" : "the best ", fields_text(best.values),
        best.database);
  print_match(best);
  // The searches of a portfolio are at several sizes; the last one does not represent the result.
  const auto tunings = detail::describe_tunings(best.values);
  for (const std::string& each : tunings) print("tuning     {}\n", each);
  if (tunings.empty()) {
    print("time       {}\n", time_text(best.score_ns));
    print("why        {}\n", why.reason());
    print("how sure   {}: {}\n", why.classification(), why.classification_text());
    print_bits(all);
  }
  if (why.beside_application) {
    print(
        "measured   beside a running application; LIBTUNE_MODE=resume measures the best again "
        "on a device that is free\n");
  }
  for (const stored_trial& trial : why.taken_back) {
    print("not used   {}: {}\n", fields_text(trial.configuration), trial.message);
  }
  if (all.source) {
    print("pulled     {} from {}, where {} pushed it from '{}' at {}\n", all.source->pulled_at,
          all.source->store, all.source->pushed_by, all.source->pushed_from, all.source->pushed_at);
  }
  print_origin(all.origin);
  if (all.origin) print_seeds(*all.origin);
  json others = json::array();
  for (const candidate& one : all.lookup.candidates) {
    if (!one.lost.empty()) others.push_back(to_json(all, one));
  }
  print_rows(false, {}, others,
             {{nullptr, nullptr, [](const json&) { return std::string("not used "); }},
              {nullptr, "layer"},
              {nullptr, "values"},
              {nullptr, "result_of"},
              {nullptr, "lost"}});
}

json to_json(const explanation& all, const result_confidence& why) {
  json document{{"function", all.function.name},
                {"version", all.function.version},
                {"goal", goal_text(all.function)},
                {"arguments", plain_json(all.key.arguments)},
                {"device", plain_json(all.key.device)},
                {"match_mode", match_mode_name(all.settings.match)},
                {"mode", tuning_mode_name(all.settings.mode)},
                {"action", lookup_step_name(all.lookup.step)},
                {"verified", all.lookup.step == lookup_step::verify}};
  document.update(to_json(all, all.lookup.candidates.front()));
  document.update({{"why", why.reason()},
                   {"sure", why.classification()},
                   {"trials", why.trials},
                   {"measured", why.measured},
                   {"runner_up_slower_by", number_or_null(why.gap)},
                   {"noise", number_or_null(why.noise)},
                   {"measured_behind", why.beside_application},
                   {"bits", bits_json(all.bits)},
                   {"origin", to_json(all.origin)},
                   {"pulled", to_json(all.source)},
                   {"searched", seeds_json(all.origin)},
                   {"layers", cli::to_json(all.layers)}});
  json taken_back = json::array();
  for (const stored_trial& trial : why.taken_back) {
    taken_back.push_back({{"values", plain_json(trial.configuration)}, {"reason", trial.message}});
  }
  document["taken_back"] = std::move(taken_back);
  json candidates = json::array();
  for (const candidate& one : all.lookup.candidates) candidates.push_back(to_json(all, one));
  document["candidates"] = std::move(candidates);
  return document;
}

/// Completes a named device from a database that has a device with this name, if any.
device_identity find_device(const std::vector<layer>& layers, const function_identity& function,
                            const std::vector<named_value>& arguments,
                            const device_choice& choice) {
  if (choice.name.empty()) return choice.identity();
  row_choice of_key = choice.rows();
  of_key.arguments = arguments;
  // The device of another key is as good, but the database has no index that finds it.
  for (const row_choice& rows : {of_key, choice.rows()}) {
    for (const layer& one : layers) {
      if (const auto result = one.any_result(function, rows)) return result->device();
    }
  }
  return choice.identity();
}

/// With a lock file a program uses no other source.
void explain_lock(const invocation& shared, const explanation& all) {
  const std::string& path = all.settings.lock;
  const tuning_lock lock = read_lock(path);
  const locked_result* found = lock.find(all.function, all.key);
  if (found == nullptr) {
    throw nothing_found(
        fmt::format("LIBTUNE_LOCK names '{}', whose results alone are used, and {}; "
                    "a program fails",
                    path, lock.absence(all.function, all.key)));
  }
  if (shared.json) {
    print_json({{"function", all.function.name},
                {"version", all.function.version},
                {"arguments", plain_json(all.key.arguments)},
                {"device", plain_json(all.key.device)},
                {"action", "use"},
                {"lock", path},
                {"values", plain_json(found->values)},
                {"score_ns", number_or_null(found->score_ns)},
                {"programs", found->programs}});
    return;
  }
  print(
      "{}, version {}, for {} on {}\nLIBTUNE_LOCK names '{}', whose results alone are used\n"
      "would use  {}\ntime       {}\nprograms   {}\n",
      all.function.name, all.function.version, fields_text(all.key.arguments),
      to_text(all.key.device), path, fields_text(found->values), time_text(found->score_ns),
      found->programs.empty() ? "not known: a change of the kernel is not noticed"
                              : fmt::format("{}", fmt::join(found->programs, " ")));
}

void run(const invocation& shared, const explain_options& options) {
  explanation all;
  all.settings = shared.settings();
  const auto access = all.settings.mode == tuning_mode::cached ? database_access::read_only
                                                               : database_access::read_write;
  all.layers = find_layers(all.settings, access);
  all.function = find_function(all.layers, options.function);
  // The goal of a program here; a name with a goal already includes it.
  if (read_environment("LIBTUNE_OBJECTIVE") && own_name(all.function.name) == all.function.name) {
    all.function.name = detail::name_with_goal(all.function.name, resolve_goal({}, {}));
  }
  all.key.arguments = parse_key(all.function, options.arguments);
  all.key.device = find_device(all.layers, all.function, all.key.arguments, options.device);
  if (!all.settings.lock.empty()) return explain_lock(shared, all);
  all.lookup = explain_lookup(all.layers, all.settings, all.function, all.key);
  if (all.lookup.candidates.empty()) {
    throw nothing_found("no device has a result for " + fields_text(all.key.arguments) + ", so " +
                        all.lookup.text(all.settings) + "; see tunedb show " + all.function.name);
  }
  const record& best = all.lookup.candidates.front().result;
  all.origin = origin_of(all.layers, all.function, all.key, best);
  all.source = find_source(best.database, all.function, {all.key.arguments, best.device});
  const std::vector<stored_trial> trials = trials_behind(all.layers, all.function, all.key, best);
  const result_confidence why(trials, best);
  all.bits.emplace(trials, best);
  if (shared.json) {
    print_json(to_json(all, why));
  } else {
    print_text(all, why);
  }
}

void show_path(const invocation& shared, bool all) {
  const std::string path = shared.database_path();
  if (!shared.json && !all) {
    print("{}\n", path);
    return;
  }
  const std::vector<layer> layers = find_layers(shared.settings());
  const char* named_by = "default";
  if (read_environment("LIBTUNE_DB")) named_by = "LIBTUNE_DB";
  if (!shared.database.empty()) named_by = "--db";
  const json listed = to_json(layers);
  print_rows(shared.json,
             {{"path", path},
              {"named_by", named_by},
              {"has_tables", layers.front().has_tables},
              {"layers", listed}},
             listed, {{"LAYER", "role"}, {"FILE", "path"}, {"STATE", "state"}});
}

json variables_json() {
  json list = json::array();
  for (const environment_variable& variable : environment_variables()) {
    auto now = read_environment(variable.name);
    if (now && is_store_url(*now)) now = shown_url(*now);  // without its password
    list.push_back({{"name", variable.name},
                    {"value", now ? json(*now) : json(nullptr)},
                    {"form", variable.form},
                    {"default", variable.default_text},
                    {"meaning", variable.meaning}});
  }
  return list;
}

}  // namespace

void add_explain(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<explain_options>();
  CLI::App* command = program.add_subcommand(
      "explain",
      "What a program would do here and now for a key on a device: in which database the result "
      "lies, why it is this one, how sure that is, what differs on its device, and why the others "
      "lost. Without --device, for the device that an autotuner would tune for here");
  command->add_option("FUNCTION", options->function, "A name, or NAME__VERSION")->required();
  command->add_option("--arg", options->arguments, "A field of the key, as NAME=VALUE")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  options->device.add_to(*command);
  command->callback([&shared, options] { run(shared, *options); });
}

void add_path(CLI::App& program, invocation& shared) {
  const auto all = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand("path", "Which file is the database, here and now");
  command->add_flag("--all", *all,
                    "Also the system's databases, and which of all are used, from the top");
  command->callback([&shared, all] { show_path(shared, *all); });
}

void add_env(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand(
      "env", "Every environment variable that libtune reads, with its present value");
  command->callback([&shared] {
    const json variables = variables_json();
    print_rows(shared.json, variables, variables,
               {{"VARIABLE", "name"},
                {"VALUE NOW", "value"},
                {"MAY HOLD", "form"},
                {"DEFAULT", "default"},
                {"MEANING", "meaning"}});
  });
}

}  // namespace tune::cli
