// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// tunedb pretune --from and tune --from: the keys of captured frames, tuned with their contents.
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "operations/transpose/transpose.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace captured_keys_command_test {

using namespace tune::testing;
using nlohmann::json;

/// A database, and folders of frames of a built-in operation.
struct bench {
  temporary_directory folder;
  std::string database = (folder / "tuning.db").string();
  scoped_environment variable{"LIBTUNE_DB", database.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment missed{"LIBTUNE_MISSED", "off"};
  scoped_environment device{"LIBTUNE_DEVICE", "0"};

  /// Captures a transposition of numbers from the first one on. Returns the folder of the frame.
  std::string capture(const std::string& name, std::int32_t first) const {
    const tune::context context = tune::all_devices().front().create_context();
    tune::command_queue queue = context.create_command_queue();
    auto turn = tune::operations::transpose_template(context, tune::dtype::int32,
                                                     tune::operations::transpose_tuning{})
                    .instantiate(queue, 30, 40);
    turn.ensure_all_bound();
    std::vector<std::int32_t> values(turn.buffer("src").layout().bytes() / sizeof(std::int32_t));
    for (std::int32_t& each : values) each = first++;
    queue.write(turn.buffer("src").buffer(), values.data(), values.size() * sizeof(std::int32_t));
    tune::capture frames("turning", {.folder = folder / name, .each_nth = 1});
    const auto point = frames.add("turn", turn);
    frames.prepare();
    tune::frame_snapshot frame = frames.begin();
    point.run(frame);
    frames.end(frame);
    REQUIRE(frames.wait());
    return (folder / name).string();
  }
  /// The last event of pretune --from.
  json pretune(const std::string& from, const std::string& more = "") const {
    const ended run = tunedb("pretune --json --budget '2 trials' --from " + from + " " + more);
    REQUIRE(run.code == 0);
    std::istringstream lines(run.output);
    std::string last;
    for (std::string line; std::getline(lines, line);) last = line;
    return json::parse(last);
  }
  std::string stored_inputs() const {
    return tunedb_json("show operations.transpose_template.autotune")["results"][0]["inputs"];
  }
};

TEST_CASE_FIXTURE(bench, "a result with other inputs is replaced, and one with the same is left") {
  if (tune::all_devices().empty()) return;
  const std::string frames = capture("frames", 5);
  CHECK(pretune(frames)["tuned"] == 1);
  const std::string inputs = stored_inputs();
  CHECK(inputs.find("captured 1 frame of turning sha256:") == 0);
  CHECK(pretune(frames)["present"] == 1);
  CHECK(pretune(capture("other", 6))["tuned"] == 1);
  CHECK(stored_inputs() != inputs);
  CHECK(pretune(frames, "--force")["tuned"] == 1);
  CHECK(stored_inputs() == inputs);

  const ended explained =
      tunedb("explain operations.transpose_template.autotune --arg element_bytes=4");
  CHECK(contains(explained.output, "inputs     " + inputs));
  CHECK(contains(tunedb("trials operations.transpose_template.autotune").output, inputs));
  CHECK(contains(tunedb("export --format json").output, inputs));
  CHECK(contains(tunedb("report - --json").output, inputs));
}

TEST_CASE_FIXTURE(bench, "tune --from tunes the same keys") {
  if (tune::all_devices().empty()) return;
  const scoped_environment budget("LIBTUNE_BUDGET", "2 trials");
  const ended run = tunedb("tune --from " + capture("frames", 5) + " 2>&1");
  CHECK(run.code == 0);
  CHECK(contains(run.output, "captured 1 frame of turning"));
  CHECK(stored_inputs().find("captured 1 frame of turning") == 0);
  CHECK(tunedb("tune 2>&1").code == 2);
}

TEST_CASE_FIXTURE(bench, "frames without a known key are an error, and are said") {
  if (tune::all_devices().empty()) return;
  const std::string frames = capture("frames", 5);
  const ended run =
      tunedb("pretune --from " + frames + " --app '" + LIBTUNE_APPLICATION + "' 2>&1");
  CHECK(run.code == 3);
  CHECK(contains(run.output, "the application has no such function"));
  CHECK(tunedb("pretune --from " + frames + "/none 2>&1").code == 1);
  CHECK(tunedb("pretune 2>&1").code == 2);
}

}  // namespace captured_keys_command_test
