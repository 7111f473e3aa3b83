// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/capture/capture_door.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

using clock = std::chrono::steady_clock;
using detail::capture_state;
using detail::found_capture;

struct capture_arguments {
  std::optional<std::int64_t> process;
  std::string pipeline;
  std::uint64_t frames = 1;
  std::size_t seconds = 60;
  bool list = false;
};

json to_json(const capture_state& state) {
  return {{"process", state.process},        {"pipeline", state.pipeline},
          {"folder", state.folder},          {"frames", state.counts.frames},
          {"written", state.counts.written}, {"skipped", state.counts.skipped},
          {"failed", state.counts.failed},   {"bytes", state.counts.bytes},
          {"last_file", state.last_file},    {"last_failure", state.last_failure},
          {"finished", state.is_finished}};
}

std::vector<found_capture> chosen_captures(const capture_arguments& given) {
  std::vector<found_capture> chosen = detail::find_captures();
  std::erase_if(chosen, [&](const found_capture& each) {
    const bool other_process = given.process && each.state.process != *given.process;
    return other_process || (!given.pipeline.empty() && each.state.pipeline != given.pipeline);
  });
  return chosen;
}

void list(const invocation& shared, const std::vector<found_capture>& found) {
  json rows = json::array();
  for (const found_capture& each : found) rows.push_back(to_json(each.state));
  print_rows(shared.json, {{"captures", rows}}, rows,
             {{"PROCESS", "process"},
              {"PIPELINE", "pipeline"},
              {"FRAMES", "frames"},
              {"WRITTEN", "written"},
              {"FAILED", "failed"},
              {"FOLDER", "folder"}});
}

const found_capture& only_capture(const std::vector<found_capture>& found) {
  if (found.empty()) {
    throw nothing_found(
        "no such program runs that allows it: it has to make a tune::capture with on_request, or "
        "to be started with LIBTUNE_CAPTURE=\"FOLDER, on request\"");
  }
  if (found.size() == 1) return found.front();
  std::string names;
  for (const found_capture& each : found) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", each.state.process,
                         each.state.pipeline);
  }
  throw usage_error("several programs allow it: " + names + "; choose by --pid or --pipeline");
}

/// The state after the request; empty if the program has ended.
std::optional<capture_state> wait_for(const found_capture& from, const capture_arguments& given) {
  const auto until = clock::now() + std::chrono::seconds(given.seconds);
  const auto& before = from.state.counts;
  auto now = detail::ask_capture(from.path, given.frames);
  while (now && clock::now() < until) {
    const std::uint64_t ended =
        now->counts.written - before.written + now->counts.failed - before.failed;
    if (ended >= given.frames || now->is_finished) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    now = detail::ask_capture(from.path, 0);
  }
  return now;
}

void request(invocation& shared, const capture_arguments& given) {
  const auto found = chosen_captures(given);
  const found_capture& from = only_capture(found);
  const auto now = wait_for(from, given);
  if (!now) throw error(fmt::format("process {} has ended meanwhile", from.state.process));
  const std::uint64_t written = now->counts.written - from.state.counts.written;
  if (shared.json) {
    print_json(to_json(*now));
  } else {
    print("{} of {} frames of '{}' written; the last file: {}\n", written, given.frames,
          now->pipeline, now->last_file.empty() ? "-" : now->last_file);
  }
  if (written >= given.frames) return;
  shared.result = failed;
  const bool has_failed = now->counts.failed > from.state.counts.failed;
  print(stderr, "tunedb: {}\n",
        has_failed         ? now->last_failure
        : now->is_finished ? "the program has reached its limit of captured frames or bytes"
                           : fmt::format("no more frames within {} s", given.seconds));
}

}  // namespace

void add_capture(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand(
      "capture",
      "Capture frames of a running program that allows it, and wait for their files.\n\n"
      "The program makes a tune::capture with on_request, or makes one without a folder and is "
      "started with LIBTUNE_CAPTURE=\"FOLDER, on request\". It has to run here, and as this user.");
  auto given = std::make_shared<capture_arguments>();
  command->add_option("--pid", given->process, "The process")->type_name("NUMBER");
  command->add_option("--pipeline", given->pipeline, "The name of the capture in the program")
      ->type_name("NAME");
  command->add_option("--frames", given->frames, "How many of its next frames")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--time", given->seconds, "The longest wait, in seconds")
      ->capture_default_str();
  command->add_flag("--list", given->list, "Only list such programs");
  command->callback([&shared, given] {
    if (given->list) return list(shared, chosen_captures(*given));
    request(shared, *given);
  });
}

}  // namespace tune::cli
