// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/capture.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct replay_arguments {
  std::vector<std::string> files;
  std::string application;
  std::vector<std::string> arguments;
  std::vector<std::string> operations;
  std::optional<std::uint64_t> frame;
  std::size_t seconds = 120;
  bool list = false;
  bool check = false;
};

std::vector<captured_place> chosen_places(const capture_reader& file,
                                          const replay_arguments& given) {
  std::vector<captured_place> chosen;
  for (const captured_place& place : all_places(file)) {
    const captured_frame& frame = file.frames()[place.first];
    const captured_call& call = frame.calls[place.second];
    const auto& names = given.operations;
    const bool is_named = names.empty() || std::ranges::find(names, call.name) != names.end();
    if (is_named && (!given.frame || *given.frame == frame.number)) chosen.push_back(place);
  }
  return chosen;
}

// ---- the contents of a file

std::string contents_text(const json& row) {
  const bool before = row["before"].get<bool>();
  if (!row["shares"].get<std::string>().empty()) return "with " + row["shares"].get<std::string>();
  if (!row["changed"].get<bool>()) return before ? "read" : "not captured";
  return before ? "changed" : "written";
}

json slot_row(const captured_frame& frame, const captured_call& call, const captured_slot& slot) {
  return {{"frame", frame.number},
          {"operation", call.name},
          {"class", call.form.type},
          {"slot", slot.name},
          {"type", slot.type},
          {"shape", slot.type.empty() ? std::string() : to_string(slot.size)},
          {"bytes", slot.bytes},
          {"before", slot.before.has_value()},
          {"after", slot.after.has_value()},
          {"changed", slot.changed},
          {"shares", slot.shares}};
}

json frame_json(const std::string& path, const captured_frame& frame) {
  const auto time = std::chrono::system_clock::to_time_t(frame.time);
  json document{{"file", path},
                {"frame", frame.number},
                {"pipeline", frame.pipeline},
                {"reason", capture_reason_name(frame.reason)},
                {"weight", frame.weight},
                {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time))},
                {"device", plain_json(frame.device)},
                {"backend", frame.backend},
                {"library_version", frame.version},
                {"operations", json::array()}};
  if (frame.duration) document["duration_ns"] = frame.duration->count();
  for (const captured_call& call : frame.calls) {
    document["operations"].push_back({{"operation", call.name},
                                      {"class", call.form.type},
                                      {"function", call.function},
                                      {"key", plain_json(call.key)},
                                      {"parameters", plain_json(call.form.parameters)}});
  }
  return document;
}

void list(const invocation& shared, const replay_arguments& given) {
  json frames = json::array();
  json rows = json::array();
  for (const std::string& path : given.files) {
    const capture_reader file(path);
    for (const captured_frame& frame : file.frames()) frames.push_back(frame_json(path, frame));
    for (const auto& [number, place] : chosen_places(file, given)) {
      const captured_frame& frame = file.frames()[number];
      const captured_call& call = frame.calls[place];
      for (const captured_slot& slot : call.slots) rows.push_back(slot_row(frame, call, slot));
    }
  }
  if (!shared.json) {
    for (const json& each : frames) {
      print("{}: frame {} of {} ({}), weight {}, {}, on {}\n", each["file"].get<std::string>(),
            each["frame"].get<std::uint64_t>(), each["pipeline"].get<std::string>(),
            each["reason"].get<std::string>(), each["weight"].get<double>(),
            each["time"].get<std::string>(), each["device"]["name"].get<std::string>());
    }
  }
  print_rows(shared.json, {{"frames", frames}, {"slots", rows}}, rows,
             {{"FRAME", "frame"},
              {"OPERATION", "operation"},
              {"SLOT", "slot"},
              {"TYPE", "type"},
              {"SHAPE", "shape"},
              {"BYTES", "bytes"},
              {"CONTENTS", nullptr, contents_text}});
}

void check_files(const invocation& shared, const replay_arguments& given) {
  for (const std::string& path : given.files) capture_reader(path).check();
  if (shared.json) return print_json({{"whole", given.files}});
  print("{} files are whole\n", given.files.size());
}

// ---- replay

json call_row(const std::string& path, const replayed_call& call) {
  return {{"file", path},           {"frame", call.frame},
          {"operation", call.name}, {"class", call.type},
          {"device", call.device},  {"outcome", replay_outcome_name(call.outcome)},
          {"text", call.text}};
}

std::string outcome_of(const json& row) {
  const auto outcome = row["outcome"].get<std::string>();
  if (outcome == "same") return "the same bits";
  return outcome + ": " + row["text"].get<std::string>();
}

std::string device_of(const json& row) {
  const auto name = row["device"].get<std::string>();
  return name.empty() ? "-" : name;
}

exit_code code_for(const std::vector<replayed_call>& calls) {
  const auto has = [&](replay_outcome outcome) {
    return std::ranges::find(calls, outcome, &replayed_call::outcome) != calls.end();
  };
  if (has(replay_outcome::different)) return different;
  return has(replay_outcome::failed) ? part_left : done;
}

replay_options options_of(const replay_arguments& given) {
  replay_options options;
  options.call_time = std::chrono::seconds(given.seconds);
  options.program.path = given.application;
  if (!given.application.empty()) {
    options.program.arguments = {given.application};
    for (const std::string& each : given.arguments) options.program.arguments.push_back(each);
  }
  return options;
}

void replay_files(invocation& shared, const replay_arguments& given) {
  json rows = json::array();
  std::vector<replayed_call> calls;
  for (const std::string& path : given.files) {
    const capture_reader file(path);
    const auto places = chosen_places(file, given);
    if (places.empty()) throw nothing_found("no such frame or operation is in '" + path + "'");
    for (replayed_call& each : replay_in_child(file, places, options_of(given))) {
      rows.push_back(call_row(path, each));
      calls.push_back(std::move(each));
    }
  }
  print_rows(shared.json, {{"runs", rows}}, rows,
             {{"FRAME", "frame"},
              {"OPERATION", "operation"},
              {"CLASS", "class"},
              {"DEVICE", nullptr, device_of},
              {"RESULT", nullptr, outcome_of}});
  shared.result = code_for(calls);
}

}  // namespace

void add_replay(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand(
      "replay",
      "Run captured frames again, and compare the results bit by bit.\n\n"
      "Makes each operation of the frames with its sizes, scalars and tuning, runs it in a child "
      "process on the captured contents, and reports the first difference. Built-in operations are "
      "known here; an application makes its own, and its main begins with tune::serve_if_worker. "
      "The child uses the device of the frame if there is one, else that of LIBTUNE_DEVICE. Exit "
      "code 0: the same bits; 8: a difference; 5: an operation could not be run.");
  auto given = std::make_shared<replay_arguments>();
  command->add_option("FILE", given->files, "Files of captured frames")->required();
  command
      ->add_option("--application", given->application,
                   "The program that makes the operations again, instead of this one")
      ->type_name("PROGRAM");
  command
      ->add_option("--argument", given->arguments, "An argument for that program; may be repeated")
      ->type_name("TEXT");
  command
      ->add_option("--operation", given->operations,
                   "Only the operation of this name in the pipeline; may be repeated")
      ->type_name("NAME");
  command->add_option("--frame", given->frame, "Only the frame of this number");
  command->add_option("--time", given->seconds, "The longest time of one operation, in seconds")
      ->capture_default_str();
  command->add_flag("--list", given->list, "Only list the frames, operations and slots");
  command->add_flag("--check", given->check, "Only check that the files are whole");
  command->callback([&shared, given] {
    if (given->check) return check_files(shared, *given);
    if (given->list) return list(shared, *given);
    replay_files(shared, *given);
  });
}

}  // namespace tune::cli
