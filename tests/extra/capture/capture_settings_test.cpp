// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/capture_settings.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/extra/capture/captured_pipeline.hpp"

namespace capture_settings_test {

using tune::detail::complete_by;

TEST_CASE("the variable gives folder, policy and limits") {
  const auto all =
      complete_by({}, "/data/my frames, each 1000,over 2.5 ms, frames 3, bytes 2 GiB, memory 1MB");
  CHECK(all.folder == "/data/my frames");
  CHECK(all.each_nth == 1000);
  CHECK(all.deadline == std::chrono::microseconds(2500));
  CHECK(all.most_frames == 3);
  CHECK(all.most_file_bytes == std::uint64_t{2} << 30);
  CHECK(all.memory_bytes == 1000000);
}

TEST_CASE("a text gives options, and keeps the others") {
  const auto read =
      tune::capture_options_from_text("f, over 1 s", {.each_nth = 3, .compression = 9});
  CHECK(read.folder == "f");
  CHECK(read.each_nth == 0);
  CHECK(read.deadline == std::chrono::seconds(1));
  CHECK(read.compression == 9);
}

TEST_CASE("requests alone are a policy, too") {
  const auto asked = complete_by({}, "f, on request");
  CHECK(asked.on_request);
  CHECK(asked.each_nth == 0);
  CHECK(complete_by({}, "f, on request, each 3").each_nth == 3);
}

TEST_CASE("a folder alone takes some early frames") {
  const auto alone = complete_by({}, "frames");
  CHECK(alone.folder == "frames");
  CHECK(alone.each_nth == 100);
  CHECK(alone.most_frames == 4);
}

TEST_CASE("a program's own folder and policy stay") {
  const auto own = complete_by({.folder = "own", .each_nth = 7}, "other, each 5");
  CHECK(own.folder == "own");
  CHECK(own.each_nth == 7);
  const auto policy = complete_by({.deadline = std::chrono::seconds(1)}, "other, each 5");
  CHECK(policy.folder == "other");
  CHECK(policy.each_nth == 0);
  CHECK(policy.deadline == std::chrono::seconds(1));
}

TEST_CASE("other texts are refused") {
  for (const char* text :
       {"", ",each 5", "f,each", "f,each 0", "f,each -1", "f,every 5", "f,over 5", "f,over 5 m",
        "f,bytes 2 XB", "f,frames x", "f,each 1e300", "f,,each 5", "f,each 0.5"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(complete_by({}, text), tune::environment_error);
    CHECK_THROWS_AS(tune::capture_options_from_text(text), tune::argument_error);
  }
}

TEST_CASE("without a folder nothing is captured, and nothing allocated") {
  const tune::testing::scoped_environment none("LIBTUNE_CAPTURE", nullptr);
  tune::testing::fake_device device;
  device.add_kernel("gain", 5, [](tune::testing::fake_launch&) {});
  const tune::context context = device.device().create_context();
  captured_pipeline::gain step(context.create_command_queue(), captured_pipeline::compile(context),
                               10);
  step.ensure_all_bound();
  const std::size_t bytes = device.live_bytes();
  tune::capture frames("off", {.each_nth = 1});
  CHECK_FALSE(frames.is_on());
  const auto point = frames.add("gain", step);
  frames.prepare();
  frames.request();
  tune::frame_snapshot frame = frames.begin();
  CHECK_FALSE(static_cast<bool>(frame));
  point.run(frame);
  frames.end(frame);
  CHECK(device.launches().size() == 1);
  CHECK(device.live_bytes() == bytes);
}

TEST_CASE("the environment turns captures on that set no folder") {
  const tune::testing::temporary_directory folder;
  const std::string text = (folder / "made").string() + ", each 1, frames 1";
  const tune::testing::scoped_environment variable("LIBTUNE_CAPTURE", text.c_str());
  tune::testing::fake_device device;
  device.add_kernel("gain", 5, [](tune::testing::fake_launch&) {});
  const tune::context context = device.device().create_context();
  captured_pipeline::gain step(context.create_command_queue(), captured_pipeline::compile(context),
                               10);
  tune::capture frames("by/environment");
  CHECK(frames.is_on());
  const auto point = frames.add("gain", step);
  frames.prepare();
  tune::frame_snapshot frame = frames.begin();
  point.run(frame);
  frames.end(frame);
  REQUIRE(frames.wait());
  CHECK(frames.counts().written == 1);
  CHECK_THROWS_AS(tune::capture("wrong", {.each_nth = 1, .compression = 10}), tune::argument_error);
}

}  // namespace capture_settings_test
