// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Captured frames that are run again: the same bits, and the first difference if there is one.
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/testing/captured_frames.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/extra/capture/captured_file.hpp"
#include "tests/extra/capture/captured_pipeline.hpp"

namespace replay_test {

using captured_pipeline::altered;
using captured_pipeline::capture_run;
using captured_pipeline::gain;
using captured_pipeline::loaded_gain;
using captured_pipeline::ramp;

constexpr std::size_t size = captured_pipeline::sample_size;

tune::replayed_call replay_first(const std::filesystem::path& path,
                                 const tune::command_queue& queue) {
  const tune::capture_reader file(path);
  return tune::replay(file, file.frames()[0], file.frames()[0].calls[0], queue);
}

LIBTUNE_DEVICE_TEST_CASE("an operation that is made again gives the same bits", device) {
  const tune::testing::temporary_directory folder;
  const tune::command_queue queue = device.create_context().create_command_queue();
  gain step = loaded_gain(queue);
  const auto path = capture_run(step, folder.path());
  const tune::replayed_call replayed = replay_first(path, queue);
  CHECK(replayed.text == "");
  CHECK(replayed.outcome == tune::replay_outcome::same);
  CHECK(replayed.type == "captured_pipeline::gain");
}

LIBTUNE_DEVICE_TEST_CASE("a sequence that is made again gives the same bits", device) {
  const tune::testing::temporary_directory folder;
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  auto both = captured_pipeline::two_gains(queue, captured_pipeline::compile(context), size);
  captured_pipeline::set(both, "first:src", ramp(size, 1));
  captured_pipeline::set(both, "first:sum", ramp(size, 0));
  captured_pipeline::set(both, "second:sum", ramp(size, 7));
  const tune::replayed_call replayed = replay_first(capture_run(both, folder.path()), queue);
  CHECK(replayed.text == "");
  CHECK(replayed.outcome == tune::replay_outcome::same);
}

LIBTUNE_DEVICE_TEST_CASE("nested sequences, compounds in aliases and shared memory come back",
                         device) {
  const tune::testing::temporary_directory folder;
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const tune::program program = captured_pipeline::compile(context);
  tune::operation_sequence all(queue,
                               {{"inner", captured_pipeline::two_gains(queue, program, size)},
                                {"last", gain(queue, program, size)}},
                               {{"handed", {"inner:second:dest", "last:src"}}},
                               {{"scratch", {"inner:first:sum", "last:sum"}}});
  captured_pipeline::set(all, "inner:first:src", ramp(size, 1));
  captured_pipeline::set(all, "inner:second:sum", ramp(size, 2));
  all.ensure_all_bound();
  all.bind("last:dest", all.buffer("inner:first:src"));
  const auto path = capture_run(all, folder.path());
  const tune::capture_reader file(path);
  const auto& call = file.frames()[0].calls[0];
  CHECK(std::ranges::count(call.form.joins, true, &tune::captured_join::is_alias) == 1);
  const tune::replayed_call replayed = replay_first(path, queue);
  CHECK(replayed.text == "");
  CHECK(replayed.outcome == tune::replay_outcome::same);
}

LIBTUNE_DEVICE_TEST_CASE("declared slots are replayed, too", device) {
  const tune::testing::temporary_directory folder;
  const tune::command_queue queue = device.create_context().create_command_queue();
  gain step = loaded_gain(queue);
  const auto path =
      capture_run(step, folder.path(), {.unchanged = {"src"}, .overwritten = {"dest"}});
  CHECK(replay_first(path, queue).outcome == tune::replay_outcome::same);
}

LIBTUNE_DEVICE_TEST_CASE("other scalars are another result, and the first difference is reported",
                         device) {
  const tune::testing::temporary_directory folder;
  const tune::command_queue queue = device.create_context().create_command_queue();
  gain step = loaded_gain(queue);
  const auto path = altered(capture_run(step, folder.path()), [](tune::captured_call& call) {
    call.form.parameters[1].value = std::int64_t{6};
  });
  const tune::replayed_call replayed = replay_first(path, queue);
  CHECK(replayed.outcome == tune::replay_outcome::different);
  CHECK(replayed.text ==
        "the slot 'dest': 1000 of 1000 elements differ; the first, at (0,) is 18, and was 15");
}

LIBTUNE_DEVICE_TEST_CASE("what cannot be made again is reported", device) {
  const tune::testing::temporary_directory folder;
  const tune::command_queue queue = device.create_context().create_command_queue();
  gain step = loaded_gain(queue);
  const auto path = capture_run(step, folder.path());
  const auto text_after = [&](const std::function<void(tune::captured_call&)>& change) {
    const tune::replayed_call replayed = replay_first(altered(path, change), queue);
    CHECK(replayed.outcome == tune::replay_outcome::failed);
    return replayed.text;
  };
  CHECK(text_after([](auto& call) {
          call.form.type = "app::unknown";
        }).find("no tune::remaker of it, only of captured_") != std::string::npos);
  CHECK(text_after([](auto& call) {
          call.form.parameters.pop_back();
        }).find("without its parameter 'scale'") != std::string::npos);
  CHECK(text_after([](auto& call) { call.slots.pop_back(); }).find("'sum'") != std::string::npos);
  CHECK(text_after([](auto& call) {
          call.slots[0].type = "float32";
        }).find("captured with float32") != std::string::npos);
  CHECK(text_after([](auto& call) {
          call.form.parameters[0].value = std::string("(500,)");
        }).find("(500,)") != std::string::npos);
}

LIBTUNE_DEVICE_TEST_CASE("a workload and an answer take the captured contents", device) {
  const tune::testing::temporary_directory folder;
  const tune::command_queue queue = device.create_context().create_command_queue();
  gain step = loaded_gain(queue);
  const tune::testing::captured_frames frames(capture_run(step, folder.path()));
  const tune::captured_call& call = frames.call("run");
  tune::workload work(queue);
  tune::answer expected;
  frames.fill(work, "run");
  frames.complete(expected, queue, "run", tune::tolerance::exact());
  gain right(queue, captured_pipeline::compile(queue.context()), size);
  right.set_scale(5);
  CHECK(tune::find_fault(right, work, expected) == std::nullopt);
  gain wrong(queue, captured_pipeline::compile(queue.context()), size);
  CHECK(tune::find_fault(wrong, work, expected).has_value());
  CHECK(call.slots.size() == 3);
  CHECK_THROWS_WITH_AS(frames.call("walk"), doctest::Contains("run"), tune::argument_error);
  frames.check_replay(queue);
}

LIBTUNE_DEVICE_TEST_CASE("captured frames are inputs beside the author's, with their weights",
                         device) {
  const tune::testing::temporary_directory folder;
  const tune::command_queue queue = device.create_context().create_command_queue();
  gain step = loaded_gain(queue);
  const tune::testing::captured_frames frames(capture_run(step, folder.path()));
  tune::workload work(queue);
  tune::answer expected;
  work.set("src", std::vector<std::int32_t>(size, 0), {size});
  work.set("dest", std::vector<std::int32_t>(size, 0), {size});
  work.set("sum", std::vector<std::int32_t>(size, 0), {size});
  CHECK(tune::add_captured_inputs(work, expected, frames.file(), "run", tune::tolerance::exact()) ==
        1);
  REQUIRE(work.all_inputs().size() == 2);
  CHECK(work.all_inputs()[1].name.starts_with("frame "));
  CHECK(work.all_inputs()[1].weight == frames.file().frames()[0].weight);
  gain right(queue, captured_pipeline::compile(queue.context()), size);
  right.set_scale(5);
  CHECK(tune::find_fault(right, work, expected) == std::nullopt);
  gain wrong(queue, captured_pipeline::compile(queue.context()), size);
  const auto fault = tune::find_fault(wrong, work, expected);
  REQUIRE(fault);
  CHECK(fault->starts_with("with the inputs 'frame "));
  CHECK_THROWS_WITH_AS(tune::add_captured_inputs(work, expected, frames.file(), "walk"),
                       doctest::Contains("no operation 'walk'; they have run"),
                       tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("equal numbers of frames of several files are inputs with other names",
                         device) {
  const tune::testing::temporary_directory folder;
  const tune::command_queue queue = device.create_context().create_command_queue();
  gain step = loaded_gain(queue);
  capture_run(step, folder / "first");
  capture_run(step, folder / "second");
  tune::workload work(queue);
  tune::answer expected;
  for (const char* slot : {"src", "dest", "sum"}) work.set(slot, ramp(size, 0), {size});
  for (const char* each : {"first", "second"}) {
    for (const tune::capture_reader& file : tune::read_captures(folder / each)) {
      tune::add_captured_inputs(work, expected, file, "run", tune::tolerance::exact());
    }
  }
  REQUIRE(work.all_inputs().size() == 3);
  CHECK(work.all_inputs()[1].name == "frame 0");
  CHECK(work.all_inputs()[2].name.starts_with("frame 0 of 20"));
  CHECK_THROWS_WITH_AS(tune::read_captures(folder.path()), doctest::Contains("has no file"),
                       tune::error);
}

TEST_CASE("parameters are read by name and type") {
  const tune::remade_parameters from("app::thing", {{"n", std::uint64_t{7}},
                                                    {"shape", std::string("(3, 4)")},
                                                    {"scalar", std::string("()")},
                                                    {"type", std::string("int8")}});
  CHECK(from.get<std::size_t>("n") == 7);
  CHECK(from.extents("shape") == tune::shape{3, 4});
  CHECK(from.extents("scalar") == tune::shape{});
  CHECK(from.type("type") == tune::dtype::int8);
  CHECK_FALSE(from.has("m"));
  CHECK_THROWS_WITH_AS(from.get<int>("m"), doctest::Contains("app::thing"), tune::argument_error);
  CHECK_THROWS_AS(from.extents("type"), tune::type_error);
  CHECK_THROWS_AS(from.get<bool>("n"), tune::type_error);
}

}  // namespace replay_test
