// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches that check and time their configurations with captured runs (LIBTUNE_INPUTS).
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/extra/capture/captured_file.hpp"
#include "tests/extra/capture/tuned_clip.hpp"

namespace captured_inputs_test {

using captured_pipeline::altered;
using tune::testing::scoped_environment;
using namespace tuned_clip;

/// An application with a database and a folder of frames.
struct bench {
  tune::testing::test_mode_guard in_application{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  std::filesystem::path frames = folder / "frames";
  scoped_environment own_database{"LIBTUNE_DB", path.c_str()};
  scoped_environment no_system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  scoped_environment no_goal{"LIBTUNE_OBJECTIVE", nullptr};
  tune::context context = make_device().device().create_context();
  tune::command_queue queue = context.create_command_queue();

  /// Captures a run of each of these contents, in one file each.
  void capture(const std::vector<std::vector<std::int32_t>>& contents, std::int32_t limit = 5000,
               bool wide = false) {
    tune::capture made("clipping", {.folder = frames, .each_nth = 1});
    clip of(queue, {}, wide, contents.front().size(), limit);
    of.ensure_all_bound();
    const auto point = made.add("clip", of, {.overwritten = {"dest"}});
    made.prepare();
    for (const auto& each : contents) {
      captured_pipeline::set(of, "src", each);
      tune::frame_snapshot frame = made.begin();
      point.run(frame);
      made.end(frame);
      REQUIRE(made.wait());
    }
    REQUIRE(made.last_failure().empty());
  }

  std::int32_t tune(const std::string& inputs, tune::tuning_mode mode = tune::tuning_mode::tune) {
    const scoped_environment variable("LIBTUNE_INPUTS", inputs.empty() ? nullptr : inputs.c_str());
    return autotune(context, {}, {.mode = mode}).way;
  }
  std::int32_t tune_on_frames() { return tune(frames.string()); }

  std::string stored_inputs(std::int32_t way) {
    const tune::record_key key{tune::to_values(clip_key{}), context.device().identity()};
    const auto origin = tune::tuning_database(path).origin(autotune.identity(), key,
                                                           tune::to_values(clip_tuning{way}));
    REQUIRE(origin);
    return origin->search.inputs;
  }
};

/// Numbers of which one is of this size.
std::vector<std::int32_t> with_one(std::int32_t value, std::size_t size = 40) {
  std::vector<std::int32_t> values(size, 3);
  values[size / 2] = value;
  return values;
}

TEST_CASE_FIXTURE(bench, "the winner of a search is that of the captured contents") {
  CHECK(tune("") == forgetful);
  CHECK(stored_inputs(forgetful).empty());
  std::filesystem::remove(path);
  capture({with_one(large + 1)});
  CHECK(tune(frames.string(), tune::tuning_mode::force) == forgetful);
  std::filesystem::remove_all(frames);
  capture({with_one(forgotten + 1)});
  CHECK(tune(frames.string(), tune::tuning_mode::force) == plain);
}

TEST_CASE_FIXTURE(bench, "a configuration that is wrong with a captured frame is refused") {
  struct recorder final : tune::observer {
    void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
      if (made.outcome == tune::outcome::wrong_result) reasons.push_back(made.reason);
    }
    std::vector<std::string> reasons{};
  };
  capture({with_one(5), with_one(forgotten + 1)});
  const auto heard = std::make_shared<recorder>();
  const scoped_environment variable("LIBTUNE_INPUTS", frames.c_str());
  autotune(context, {}, {.observers = {heard}});
  REQUIRE(heard->reasons.size() == 1);
  CHECK(heard->reasons[0].find("with the inputs 'frame 1': ") == 0);
}

TEST_CASE_FIXTURE(bench, "frames count by their weights, and equal contents once") {
  // guessing takes 2 us without large values and 50 us with them, plain always 10 us. The large
  // value is forgotten by the third way.
  std::vector<std::vector<std::int32_t>> contents(8, with_one(9));
  contents.push_back(with_one(forgotten + 1));
  capture(contents);
  const auto keys = tune::find_captured_keys(frames);
  REQUIRE(keys.keys.size() == 1);
  CHECK(keys.keys[0].function == "tuned_clip.autotune");
  CHECK(keys.keys[0].contents == 2);
  CHECK(keys.keys[0].inputs.find("captured 9 frames of clipping sha256:") == 0);
  CHECK(tune_on_frames() == guessing);  // (8 * 2 + 50) / 9 < 10
  CHECK(stored_inputs(guessing) == keys.keys[0].inputs);
}

TEST_CASE_FIXTURE(bench, "a result knows its inputs, and a lookup takes results of any") {
  capture({with_one(forgotten + 1)});
  CHECK(tune_on_frames() == plain);
  CHECK(stored_inputs(plain).find("captured 1 frame of clipping sha256:") == 0);
  CHECK(tune("") == plain);
}

TEST_CASE_FIXTURE(bench, "trials with other inputs are not continued") {
  struct stopping final : tune::observer {
    void search_started(const tune::search_started_event& event) override {
      taken_over.push_back(event.taken_over);
    }
    std::vector<std::size_t> taken_over{};
  };
  capture({with_one(large + 1)});
  const auto heard = std::make_shared<stopping>();
  const auto tune_few = [&](const char* inputs) {
    const scoped_environment variable("LIBTUNE_INPUTS", inputs);
    autotune(context, {},
             {.mode = tune::tuning_mode::resume,
              .budget = tune::tuning_budget{.trials = 1},
              .observers = {heard}});
  };
  tune_few(nullptr);
  tune_few(frames.c_str());
  tune_few(frames.c_str());
  CHECK(heard->taken_over == std::vector<std::size_t>{0, 0, 1});
}

TEST_CASE_FIXTURE(bench, "captured runs that do not fit are left out, and said") {
  const auto warnings_of = [&](const std::function<void(tune::captured_call&)>& change) {
    std::filesystem::remove_all(frames);
    capture({with_one(forgotten + 1)});
    const auto file = std::filesystem::directory_iterator(frames)->path();
    const auto changed = altered(file, change);
    std::string warnings;
    tune::detail::redirect_log(
        [&](tune::log_level, std::string_view text) { warnings += std::string(text) + '\n'; });
    CHECK(tune(changed.string(), tune::tuning_mode::force) == forgetful);
    tune::detail::redirect_log({});
    return warnings;
  };
  CHECK(warnings_of([](auto& call) {
          call.form.parameters[1].value = std::string("(30,)");
        }).find("captured with (40,)") != std::string::npos);
  CHECK(warnings_of([](auto& call) {
          call.slots[0].type = "float32";
        }).find("captured with float32") != std::string::npos);
  CHECK(warnings_of([](auto& call) {
          call.slots[0].name = "other";
        }).find("its slot 'src' was not captured") != std::string::npos);
  // Another limit would have given other results.
  CHECK(warnings_of([](auto& call) {
          call.form.parameters[2].value = std::int64_t{6};
        }).find("the captured tuning gives other results here") != std::string::npos);
  // Another key.
  CHECK(warnings_of([](auto& call) {
          call.form.parameters[0].value = true;
        }).find("has no captured run for tuned_clip.autotune") != std::string::npos);
}

/// An operation whose declaration names a result that it does not have.
class misdeclared final : public clip {
 public:
  using clip::clip;
};
const tune::remaker<misdeclared> remake_misdeclared{[](const tune::command_queue& queue,
                                                       const tune::remade_parameters& from) {
  return misdeclared(queue, from.get<clip_tuning>("tuning"), false, from.extents("shape")[0], 5000);
}};
const tune::tuned_by<misdeclared> misdeclared_is_tuned{
    autotune, [](const tune::remade_parameters&) { return clip_key{}; },
    [](const tune::remade_parameters&) -> tune::tuned_results {
      return {{"sum", {}}};
    }};

TEST_CASE_FIXTURE(bench,
                  "a declaration that does not fit leaves the search to the author's inputs") {
  misdeclared of(queue, {}, false, 40, 5000);
  captured_pipeline::set(of, "src", with_one(forgotten + 1));
  captured_pipeline::capture_run(of, frames);
  CHECK(tune_on_frames() == forgetful);
  CHECK(stored_inputs(forgetful).empty());
}

TEST_CASE_FIXTURE(bench, "an operation that works in place gets its contents in one memory") {
  clip of(queue, {}, false, 40, 5000);
  captured_pipeline::set(of, "src", with_one(forgotten + 1));
  of.bind("dest", of.buffer("src").buffer());
  captured_pipeline::capture_run(of, frames);
  CHECK(tune_on_frames() == plain);
  CHECK(stored_inputs(plain).find("captured 1 frame of one") == 0);
}

TEST_CASE_FIXTURE(bench, "operations inside of a sequence get the contents that reach them") {
  std::vector<tune::named_operation> children;
  children.emplace_back("first", clip(queue, {}, false, 40, 2000));
  children.emplace_back("second", clip(queue, {}, true, 40, 4));
  tune::operation_sequence both(queue, std::move(children),
                                {{"between", {"first:dest", "second:src"}}});
  captured_pipeline::set(both, "first:src", with_one(9999));
  captured_pipeline::capture_run(both, frames);
  const auto keys = tune::find_captured_keys(frames);
  REQUIRE(keys.keys.size() == 2);
  CHECK(tune_on_frames() == plain);
  const scoped_environment variable("LIBTUNE_INPUTS", frames.c_str());
  // The first has cut the number to 2000, which is still too large for the third way.
  CHECK(autotune(context, {.wide = true}).way == plain);
}

TEST_CASE_FIXTURE(bench, "an operation without a declared key is listed as left out") {
  capture({with_one(5)});
  const auto file = std::filesystem::directory_iterator(frames)->path();
  const auto changed = altered(file, [](tune::captured_call& call) {
    call.form.type = "app::unknown";
    call.form.function.clear();
  });
  const auto keys = tune::find_captured_keys(changed);
  CHECK(keys.keys.empty());
  REQUIRE(keys.left_out.size() == 1);
  CHECK(keys.left_out[0] ==
        "'clip': no tune::tuned_by names the autotuner of its class, app::unknown");
}

}  // namespace captured_inputs_test
