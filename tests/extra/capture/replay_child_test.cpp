// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replays in a child process (replay_application.cpp): whatever becomes of one run, the others go
// on.
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/extra/capture.hpp"
#include "libtune/extra/capture/replay_message.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/extra/capture/captured_file.hpp"

namespace replay_child_test {

using captured_pipeline::altered;
using tune::replay_outcome;

/// A file whose frame has a run of gain for each of these classes.
std::filesystem::path file_of(const tune::device& device, const std::filesystem::path& folder,
                              const std::vector<std::string>& classes) {
  const tune::command_queue queue = device.create_context().create_command_queue();
  captured_pipeline::gain step = captured_pipeline::loaded_gain(queue);
  const tune::capture_reader one(captured_pipeline::capture_run(step, folder));
  const std::filesystem::path path = folder / "classes";
  tune::replace_file_by(path.string(), [&](const std::string& name) {
    tune::detail::capture_writer writer(name);
    tune::captured_frame frame = one.frames()[0];
    const tune::captured_call call = frame.calls[0];
    frame.calls.clear();
    for (const std::string& each : classes) {
      tune::captured_call& made = frame.calls.emplace_back(call);
      made.form.type = each;
      for (auto& slot : made.slots) {
        slot.before = writer.add_contents(one.read(*slot.before));
        if (slot.after) slot.after = writer.add_contents(one.read(*slot.after));
      }
    }
    writer.add(frame);
    writer.finish();
  });
  return path;
}

tune::replay_options with_application() {
  tune::replay_options options;
  options.program.path = LIBTUNE_REPLAY_APPLICATION;
  options.program.arguments = {LIBTUNE_REPLAY_APPLICATION};
  return options;
}

LIBTUNE_DEVICE_TEST_CASE("what becomes of one run does not end the others", device) {
  const tune::testing::temporary_directory folder;
  const tune::capture_reader file(
      file_of(device, folder.path(),
              {"captured_pipeline::gain", "replayed::ending", "replayed::wrong",
               "replayed::endless", "replayed::unknown", "captured_pipeline::gain"}));
  tune::replay_options options = with_application();
  options.call_time = std::chrono::seconds(1);
  std::size_t reported = 0;
  options.done = [&](const tune::replayed_call&) { ++reported; };
  auto places = tune::all_places(file);
  REQUIRE(places.size() == 6);
  // A context and a compilation take longer than a second on some devices, and come first.
  std::rotate(places.begin(), places.begin() + 1, places.begin() + 3);
  options.call_time = std::chrono::seconds(20);
  std::vector<tune::replayed_call> calls =
      tune::replay_in_child(file, {places.begin(), places.begin() + 3}, options);
  options.call_time = std::chrono::seconds(1);
  for (auto& each : tune::replay_in_child(file, {places[3]}, options)) calls.push_back(each);
  options.call_time = std::chrono::seconds(20);
  for (auto& each : tune::replay_in_child(file, {places.begin() + 4, places.end()}, options)) {
    calls.push_back(each);
  }
  REQUIRE(calls.size() == 6);
  CHECK(reported == 6);
  CHECK(calls[0].type == "replayed::ending");
  CHECK(calls[0].outcome == replay_outcome::failed);
  CHECK(calls[0].text == "its process ended: exit status 9");
  CHECK(calls[1].type == "replayed::wrong");
  CHECK(calls[1].outcome == replay_outcome::different);
  CHECK(calls[1].text.find("the first, at (0,) is -3, and was 15") != std::string::npos);
  CHECK(calls[2].outcome == replay_outcome::same);
  CHECK(calls[2].device == device.name());
  CHECK(calls[3].type == "replayed::endless");
  CHECK(calls[3].text == "it took longer than 1 s");
  CHECK(calls[4].text.find("replayed::unknown") != std::string::npos);
  CHECK(calls[5].outcome == replay_outcome::same);
}

LIBTUNE_DEVICE_TEST_CASE("a program that serves no replays is an error", device) {
  const tune::testing::temporary_directory folder;
  const tune::capture_reader file(file_of(device, folder.path(), {"captured_pipeline::gain"}));
  tune::replay_options options;
  options.program.path = "/bin/true";
  CHECK_THROWS_WITH_AS(tune::replay_in_child(file, tune::all_places(file), options),
                       doctest::Contains("serve_if_worker"), tune::error);
  options.program.path = "/nowhere/at/all";
  CHECK_THROWS(tune::replay_in_child(file, tune::all_places(file), options));
  tune::replay_options stopped = with_application();
  stopped.stop = [] { return true; };
  CHECK(tune::replay_in_child(file, tune::all_places(file), stopped).empty());
}

TEST_CASE("messages come back from their lines") {
  const tune::detail::replay_request request{.file = "/a \xFF\n", .places = {{0, 1}, {2, 3}}};
  const std::string line = to_line(request);
  CHECK(line.find('\n') == line.size() - 1);
  const auto read = tune::detail::request_from_line(line);
  CHECK(read.file == request.file);
  CHECK(read.places == request.places);
  using tune::detail::replay_message;
  const replay_message ended{.what = replay_message::kind::ended,
                             .index = 4,
                             .call = tune::replayed_call{.frame = 7,
                                                         .name = "n",
                                                         .type = "t",
                                                         .device = "d",
                                                         .outcome = replay_outcome::different,
                                                         .text = "x\ny"}};
  const auto back = tune::detail::message_from_line(to_line(ended));
  CHECK(back.index == 4);
  REQUIRE(back.call);
  CHECK(back.call->outcome == replay_outcome::different);
  CHECK(back.call->text == "x\ny");
  CHECK(back.call->device == "d");
  for (const char* text : {"", "{}", "[1]", R"({"kind": "other", "index": 0, "text": ""})"}) {
    CHECK_THROWS_AS(tune::detail::message_from_line(text), tune::argument_error);
    CHECK_THROWS_AS(tune::detail::request_from_line(text), tune::argument_error);
  }
}

}  // namespace replay_child_test
