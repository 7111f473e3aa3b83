// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "operations/transpose/transpose.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace replay_command_test {

using namespace tune::testing;
using nlohmann::json;

/// Captures a run of a built-in operation.
std::string captured_transpose(const tune::device& device, const std::filesystem::path& folder) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  auto turn =
      tune::operations::transpose_template(context, tune::dtype::int32).instantiate(queue, 30, 40);
  turn.ensure_all_bound();
  std::vector<std::int32_t> values(turn.buffer("src").layout().bytes() / sizeof(std::int32_t));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  queue.write(turn.buffer("src").buffer(), values.data(), values.size() * sizeof(std::int32_t));
  tune::capture frames("turning", {.folder = folder, .each_nth = 1});
  const auto point = frames.add("turn", turn);
  frames.prepare();
  tune::frame_snapshot frame = frames.begin();
  point.run(frame);
  frames.end(frame);
  REQUIRE(frames.wait());
  return std::filesystem::directory_iterator(folder)->path().string();
}

TEST_CASE("a captured frame is listed, checked and run again") {
  const auto devices = tune::candidate_devices();
  if (devices.empty()) return;
  const tune::device device = devices.front();
  const temporary_directory folder;
  const std::string file = captured_transpose(device, folder.path());
  const json listed = tunedb_json("replay --list " + file);
  CHECK(listed["frames"][0]["pipeline"] == "turning");
  CHECK(listed["frames"][0]["reason"] == "each_nth");
  CHECK(listed["frames"][0]["operations"][0]["parameters"]["shape"] == "(30, 40)");
  REQUIRE(listed["slots"].size() == 2);
  CHECK(listed["slots"][0]["slot"] == "src");
  CHECK(listed["slots"][1]["changed"] == true);
  CHECK(contains(tunedb("replay --list " + file).output, "CONTENTS"));
  CHECK(tunedb("replay --check " + file).code == 0);

  const json replayed = tunedb_json("replay " + file);
  REQUIRE(replayed["runs"].size() == 1);
  CHECK(replayed["runs"][0]["operation"] == "turn");
  CHECK(replayed["runs"][0]["class"] == "tune::operations::transpose");
  CHECK(replayed["runs"][0]["outcome"] == "same");
  const ended table = tunedb("replay " + file + " --operation turn");
  CHECK(table.code == 0);
  CHECK(contains(table.output, "the same bits"));
  CHECK(tunedb("replay " + file + " --operation other").code == 3);
  CHECK(tunedb("replay " + file + " --frame 5").code == 3);
  CHECK(tunedb("replay " + file + " --application /bin/true").code == 1);
}

TEST_CASE("a file that is damaged is refused") {
  const auto devices = tune::candidate_devices();
  if (devices.empty()) return;
  const tune::device device = devices.front();
  const temporary_directory folder;
  const std::string file = captured_transpose(device, folder.path());
  {
    std::fstream altered(file, std::ios::in | std::ios::out | std::ios::binary);
    altered.seekp(100);
    altered.put('x').put('y');
  }
  const ended checked = tunedb("replay --check " + file + " 2>&1");
  CHECK(checked.code == 1);
  CHECK(contains(checked.output, "operation 'turn', slot 'src'"));
  CHECK(tunedb("replay " + file).code == 5);
  std::filesystem::resize_file(file, 50);
  CHECK(contains(tunedb("replay --list " + file + " 2>&1").output, "is cut off"));
  CHECK(tunedb("replay " + file + ".none").code == 1);
}

/// A program that allows requests, until the end of this object.
class running_application {
 public:
  explicit running_application(const std::string& settings) {
    const scoped_environment variable("LIBTUNE_CAPTURE", settings.c_str());
    input_ = ::popen("exec '" LIBTUNE_CAPTURING_APPLICATION "'", "w");
  }
  ~running_application() { ::pclose(input_); }
  running_application(const running_application&) = delete;
  running_application& operator=(const running_application&) = delete;

 private:
  std::FILE* input_;
};

/// The captures of this pipeline's folder, which other tests do not use.
std::vector<json> captures_in(const std::string& folder) {
  std::vector<json> found;
  const json listed = tunedb_json("capture --list");
  for (const json& each : listed["captures"]) {
    if (each["folder"] == folder) found.push_back(each);
  }
  return found;
}

TEST_CASE("frames of a running program are captured on request, and run again") {
  if (tune::candidate_devices().empty()) return;
  const temporary_directory folder;
  const std::string path = folder.path().string();
  {
    const running_application running(path + ", on request, frames 3");
    std::vector<json> found;
    for (int look = 0; look < 6000 && (found = captures_in(path)).empty(); ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    REQUIRE(found.size() == 1);
    CHECK(found[0]["pipeline"] == "turning");
    CHECK(found[0]["written"] == 0);
    const std::string process = std::to_string(found[0]["process"].get<int>());
    const json made = tunedb_json("capture --frames 2 --pid " + process);
    CHECK(made["written"] == 2);
    CHECK(tunedb_json("replay " + made["last_file"].get<std::string>())["runs"][0]["outcome"] ==
          "same");
    const ended more = tunedb("capture --frames 2 --pid " + process + " 2>&1");
    CHECK(more.code == 1);
    CHECK(contains(more.output, "its limit of captured frames"));
    CHECK(tunedb("capture --pipeline none --pid " + process).code == 3);
  }
  CHECK(captures_in(path).empty());
  CHECK(std::distance(std::filesystem::directory_iterator(path), {}) == 3);
}

}  // namespace replay_command_test
