// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Captures of pipelines: the right contents in the files, and an undisturbed pipeline.
#include "libtune/extra/capture.hpp"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/extra/capture/captured_pipeline.hpp"

namespace capture_test {

using captured_pipeline::gain;
using captured_pipeline::ramp;
using captured_pipeline::scaled;
using tune::testing::temporary_directory;

constexpr std::size_t size = 1000;

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& each : std::filesystem::directory_iterator(folder)) files.push_back(each.path());
  std::ranges::sort(files);
  return files;
}

std::vector<std::int32_t> read(const tune::capture_reader& from,
                               const std::optional<tune::captured_contents>& contents) {
  REQUIRE(contents);
  const std::vector<std::byte> bytes = from.read(*contents);
  std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  values.resize(size);  // without padding
  return values;
}

/// A pipeline of one operation, whose input and scale differ in each frame.
struct pipeline {
  explicit pipeline(const tune::context& context)
      : queue(context.create_command_queue()),
        step(queue, captured_pipeline::compile(context), size) {
    captured_pipeline::set(step, "sum", std::vector<std::int32_t>(size));
    step.ensure_all_bound();
  }

  void load(int frame) {
    captured_pipeline::set(step, "src", ramp(size, frame));
    step.set_scale(frame + 2);
  }

  tune::command_queue queue;
  gain step;
};

/// A pipeline whose operation is captured.
struct captured_run {
  /// @param options  the folder is its own
  explicit captured_run(const tune::context& context,
                        tune::capture_options options = {.each_nth = 1},
                        tune::capture_point_options of_point = {})
      : of(context),
        frames(name, in(folder.path(), std::move(options))),
        point(frames.add("gain", of.step, std::move(of_point))) {
    frames.prepare();
  }

  static tune::capture_options in(const std::filesystem::path& folder,
                                  tune::capture_options options) {
    options.folder = folder;
    return options;
  }
  /// Runs a frame. Returns true if it is captured.
  bool run_frame() {
    tune::frame_snapshot frame = frames.begin();
    const bool is_captured = static_cast<bool>(frame);
    point.run(frame);
    frames.end(frame);
    return is_captured;
  }
  /// Runs a frame, and waits for its file.
  bool write_frame() {
    const bool is_captured = run_frame();
    REQUIRE(frames.wait());
    return is_captured;
  }
  tune::capture_reader first_file() const {
    return tune::capture_reader(files_in(folder.path()).at(0));
  }

  static constexpr const char* name = "sums";
  temporary_directory folder;
  pipeline of;
  tune::capture frames;
  tune::capture_point point;
};

LIBTUNE_DEVICE_TEST_CASE("a frame has the contents before and after the run, and its scalars",
                         device) {
  captured_run made(device.create_context(), {.each_nth = 3, .most_frames = 2},
                    {.function = "test.gain", .key = {{"n", true}}});
  for (int n = 0; n < 9; ++n) {
    made.of.load(n);
    CHECK(made.write_frame() == (n % 3 == 2 && n < 6));
  }
  const tune::capture& frames = made.frames;
  CHECK(frames.counts().written == 2);
  CHECK(frames.counts().failed == 0);
  CHECK(frames.counts().frames == 9);
  const auto files = files_in(made.folder.path());
  REQUIRE(files.size() == 2);
  CHECK(files.front().extension() == ".ltcapture");

  const tune::capture_reader file(files.back());
  file.check();
  REQUIRE(file.frames().size() == 1);
  const tune::captured_frame& frame = file.frames().front();
  CHECK(frame.number == 5);
  CHECK(frame.weight == 3);
  CHECK(frame.reason == tune::capture_reason::each_nth);
  CHECK(frame.pipeline == "sums");
  CHECK(frame.device == device.identity());
  REQUIRE(frame.calls.size() == 1);
  const tune::captured_call& call = frame.calls.front();
  CHECK(call.name == "gain");
  CHECK(call.form.type == "captured_pipeline::gain");
  CHECK(tune::to_string(call.form.parameters) == "shape=(1000,), scale=7");
  CHECK(call.function == "test.gain");
  REQUIRE(call.slots.size() == 3);
  const auto src = ramp(size, 5);
  CHECK(call.slots[0].size == tune::shape{size});
  CHECK(read(file, call.slots[0].before) == src);
  CHECK_FALSE(call.slots[0].changed);
  CHECK_FALSE(call.slots[0].after);
  CHECK(read(file, call.slots[1].before) == scaled(ramp(size, 4), 6));
  CHECK(read(file, call.slots[1].after) == scaled(src, 7));
  CHECK(call.slots[2].changed);
  std::vector<std::int32_t> sum(size);
  for (int n = 0; n <= 5; ++n) {
    for (std::size_t i = 0; i < size; ++i) sum[i] += (n + static_cast<int>(i)) * (n + 2);
  }
  CHECK(read(file, call.slots[2].after) == sum);
}

LIBTUNE_DEVICE_TEST_CASE("host memory, graphs and declared slots give the same contents", device) {
  const temporary_directory folder;
  pipeline of(device.create_context());
  tune::captured_operation replay(of.step);
  tune::capture frames("graph", {.folder = folder.path(), .memory = tune::snapshot_memory::host});
  const auto point = frames.add("gain", replay, {.unchanged = {"src"}, .overwritten = {"dest"}});
  frames.prepare();
  CHECK(frames.snapshot_bytes() == 4 * of.step.buffer("src").layout().bytes());
  of.load(0);
  for (int n = 0; n < 3; ++n) {
    if (n == 2) frames.request();
    tune::frame_snapshot frame = frames.begin();
    CHECK(static_cast<bool>(frame) == (n == 2));
    point.run(frame);
    frames.end(frame);
  }
  REQUIRE(frames.wait());
  CHECK(frames.last_failure().empty());
  const tune::capture_reader file(files_in(folder.path()).at(0));
  const auto& slots = file.frames().at(0).calls.at(0).slots;
  CHECK(file.frames().at(0).reason == tune::capture_reason::asked);
  CHECK(read(file, slots[0].before) == ramp(size, 0));
  CHECK_FALSE(slots[1].before);
  CHECK(read(file, slots[1].after) == scaled(ramp(size, 0), 2));
  CHECK(read(file, slots[2].before) == scaled(ramp(size, 0), 4));
  CHECK(read(file, slots[2].after) == scaled(ramp(size, 0), 6));
}

LIBTUNE_DEVICE_TEST_CASE(
    "a frame that is not captured allocates nothing, and no frame breaks a seal", device) {
  captured_run made(device.create_context(), {.each_nth = 10});
  made.of.load(0);
  made.of.step.run();
  made.of.queue.finish();
  {
    const tune::testing::scoped_seal sealed(
        tune::seal_options{.mode = tune::seal_mode::throws, .scope = tune::seal_scope::program});
    for (int n = 0; n < 20; ++n) {
      const tune::testing::allocation_counter allocations;
      made.run_frame();
      if (n % 10 != 9) CHECK(allocations.count() == 0);
    }
    REQUIRE(made.frames.wait());
  }
  CHECK(tune::seal_report().total() == 0);
  CHECK(made.frames.counts().written + made.frames.counts().skipped == 2);
  CHECK(made.frames.counts().failed == 0);
}

LIBTUNE_DEVICE_TEST_CASE("a sequence has its form, its joined slots and its inner contents",
                         device) {
  const temporary_directory folder;
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  auto both = captured_pipeline::two_gains(queue, captured_pipeline::compile(context), size);
  captured_pipeline::set(both, "first:src", ramp(size, 1));
  captured_pipeline::set(both, "first:sum", ramp(size, 0));
  captured_pipeline::set(both, "second:sum", ramp(size, 0));
  tune::capture frames("sequence", {.folder = folder.path(), .each_nth = 1});
  const auto point = frames.add("both", both);
  frames.prepare();
  tune::frame_snapshot frame = frames.begin();
  point.run(frame);
  frames.end(frame);
  REQUIRE(frames.wait());
  const tune::capture_reader file(files_in(folder.path()).at(0));
  const tune::captured_call& call = file.frames().at(0).calls.at(0);
  CHECK(call.form.type == "tune::operation_sequence");
  CHECK(call.form.child_names == std::vector<std::string>{"first", "second"});
  CHECK(call.form.children.at(1).type == "captured_pipeline::gain");
  REQUIRE(call.form.joins.size() == 1);
  CHECK(call.form.joins[0].name == "between");
  CHECK_FALSE(call.form.joins[0].is_alias);
  CHECK(call.form.joins[0].slots == std::vector<std::string>{"first:dest", "second:src"});
  for (const tune::captured_slot& each : call.slots) {
    if (each.name == "second:dest") CHECK(read(file, each.after) == scaled(ramp(size, 1), 4));
    if (each.name == "between") CHECK(read(file, each.after) == scaled(ramp(size, 1), 2));
  }
}

LIBTUNE_DEVICE_TEST_CASE("two slots in one memory are captured once", device) {
  const temporary_directory folder;
  pipeline of(device.create_context());
  of.load(1);
  of.step.bind("dest", of.step.buffer("src"));
  tune::capture frames("in place", {.folder = folder.path(), .each_nth = 1});
  const auto point = frames.add("gain", of.step);
  frames.prepare();
  tune::frame_snapshot frame = frames.begin();
  point.run(frame);
  frames.end(frame);
  REQUIRE(frames.wait());
  const tune::capture_reader file(files_in(folder.path()).at(0));
  const auto& slots = file.frames().at(0).calls.at(0).slots;
  CHECK(slots[1].shares == "src");
  CHECK_FALSE(slots[1].before);
  CHECK(read(file, slots[0].before) == ramp(size, 1));
  CHECK(read(file, slots[0].after) == scaled(ramp(size, 1), 3));
}

/// A device on which copies and kernels run at once.
tune::testing::fake_device fake() {
  tune::testing::fake_device device;
  device.add_kernel("gain", 5, [](tune::testing::fake_launch&) {});
  return device;
}

TEST_CASE("memory that is too small is an error when it is prepared") {
  const temporary_directory folder;
  const auto device = fake();
  pipeline of(device.device().create_context());
  tune::capture frames("small", {.folder = folder.path(), .memory_bytes = 1000});
  static_cast<void>(frames.add("gain", of.step));
  CHECK_THROWS_WITH_AS(frames.prepare(), doctest::Contains("may use 1000"), tune::argument_error);
}

TEST_CASE("wrong names and late additions are errors") {
  const temporary_directory folder;
  const auto device = fake();
  pipeline of(device.device().create_context());
  pipeline other(device.device().create_context());
  tune::capture frames("names", {.folder = folder.path(), .each_nth = 1});
  CHECK_THROWS_AS(frames.prepare(), tune::argument_error);
  static_cast<void>(frames.add("gain", of.step, {.unchanged = {"source"}}));
  CHECK_THROWS_AS(static_cast<void>(frames.add("gain", of.step)), tune::argument_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(frames.add("other", other.step)),
                       doctest::Contains("two contexts"), tune::argument_error);
  CHECK_THROWS_WITH_AS(frames.prepare(), doctest::Contains("'source'"), tune::argument_error);
}

TEST_CASE("failed copies are counted, and the pipeline goes on") {
  const auto device = fake();
  captured_run made(device.device().create_context());
  for (const std::size_t copy : {std::size_t{1}, std::size_t{5}, std::size_t{7}}) {
    device.fail_next(tune::testing::fake_call::copy, copy);
    const std::size_t runs = device.launches().size();
    made.run_frame();
    CHECK(device.launches().size() == runs + 1);
    REQUIRE(made.frames.wait());
  }
  CHECK(made.frames.counts().failed == 3);
  CHECK(made.frames.last_failure().find("told to fail") != std::string::npos);
  made.write_frame();
  CHECK(made.frames.counts().written == 1);
  CHECK(files_in(made.folder.path()).size() == 1);
}

TEST_CASE("a folder that takes no files is counted, and the pipeline goes on") {
  const temporary_directory folder;
  const auto device = fake();
  captured_run made(device.device().create_context());
  std::filesystem::remove(made.folder.path());
  made.write_frame();
  CHECK(made.frames.counts().failed == 1);
  CHECK(made.frames.last_failure().find("could not be written") != std::string::npos);
  std::filesystem::create_directory(made.folder.path());
}

TEST_CASE("the limit of bytes ends the capture, and leaves no half file") {
  const auto device = fake();
  captured_run made(device.device().create_context(), {.each_nth = 1, .most_file_bytes = 100});
  for (int n = 0; n < 5; ++n) made.write_frame();
  CHECK(made.frames.counts().written <= 1);
  CHECK(files_in(made.folder.path()).size() == made.frames.counts().written);
  CHECK_FALSE(static_cast<bool>(made.frames.begin()));
}

TEST_CASE("frames without room are skipped, and frames may overlap") {
  const auto device = fake();
  captured_run made(device.device().create_context(), {.each_nth = 1, .frames_held = 2});
  tune::capture& frames = made.frames;
  tune::frame_snapshot first = frames.begin();
  tune::frame_snapshot second = frames.begin();
  tune::frame_snapshot third = frames.begin();
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(static_cast<bool>(third));
  CHECK(frames.counts().skipped == 1);
  made.point.run(second);
  made.point.run(first);
  made.point.run(third);
  frames.end(first);
  frames.end(second);
  frames.end(third);
  REQUIRE(frames.wait());
  CHECK(frames.counts().written == 2);
}

TEST_CASE("a frame that is not ended is not written") {
  const auto device = fake();
  captured_run made(device.device().create_context());
  {
    tune::frame_snapshot frame = made.frames.begin();
    made.point.run(frame);
  }
  REQUIRE(made.frames.wait());
  CHECK(made.frames.counts().failed == 1);
  CHECK(made.frames.begin());
}

TEST_CASE("with a deadline only late frames are kept") {
  const auto device = fake();
  captured_run patient(device.device().create_context(), {.deadline = std::chrono::hours(1)});
  captured_run strict(device.device().create_context(), {.deadline = std::chrono::nanoseconds(1)});
  for (int n = 0; n < 3; ++n) {
    patient.write_frame();
    strict.write_frame();
  }
  CHECK(patient.frames.counts().in_time == 3);
  CHECK(patient.frames.counts().written == 0);
  CHECK(strict.frames.counts().in_time == 0);
  CHECK(strict.frames.counts().written == 3);
  const tune::capture_reader file = strict.first_file();
  CHECK(file.frames().at(0).reason == tune::capture_reason::over_deadline);
  CHECK(file.frames().at(0).duration > std::chrono::nanoseconds(1));
}

TEST_CASE("events that do not end hold a frame back, and the end of the capture gives it up") {
  const auto device = fake();
  captured_run made(device.device().create_context());
  const tune::capture& frames = made.frames;
  device.hold_events(true);
  made.run_frame();
  CHECK_FALSE(frames.wait(std::chrono::milliseconds(20)));
  CHECK(frames.counts().written == 0);
  device.hold_events(false);
  CHECK(frames.wait());
  CHECK(frames.counts().written == 1);
}

TEST_CASE("arrays of other places of the same size follow, larger ones are refused") {
  const auto device = fake();
  const tune::context context = device.device().create_context();
  captured_run made(context);
  pipeline& of = made.of;
  tune::capture& frames = made.frames;
  of.step.bind("src", of.step.slot("src").allocate(context, false));
  captured_pipeline::set(of.step, "src", ramp(size, 9));
  made.write_frame();
  CHECK(frames.counts().written == 1);
  const tune::capture_reader file = made.first_file();
  CHECK(read(file, file.frames()[0].calls[0].slots[0].before) == ramp(size, 9));

  of.step.bind("src", tune::device_array(context, {tune::dtype::int32, {size}, {2 * size}}));
  made.write_frame();
  CHECK(frames.last_failure().find("larger array") != std::string::npos);
}

}  // namespace capture_test
