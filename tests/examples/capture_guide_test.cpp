// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/capture.md.
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <vector>

#include "libtune/extra/capture.hpp"
#include "libtune/libtune.hpp"
#include "libtune/testing/captured_frames.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "operations/transpose/transpose.hpp"

namespace capture_guide_test {

using tune::operations::transpose_template;

struct scale_tuning {
  std::size_t wgs = 64;
};

}  // namespace capture_guide_test

LIBTUNE_FIELDS(capture_guide_test::scale_tuning, wgs)

namespace capture_guide_test {

const tune::kernel_source source{"scale.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1) void scale(GLOBAL float* data, float factor) {
  data[get_global_id(0)] *= factor;
})"};

class scale final : public tune::operation {
 public:
  scale(const tune::command_queue& queue, std::size_t size, const scale_tuning& tuning)
      : operation(queue),
        tuning_(tuning),
        kernel_(
            tune::compile(queue.context(), source, tune::defines(tuning)).create_kernel("scale")),
        data_(add_slot<float>("data", {size})) {}

  void set_factor(float factor) {
    factor_ = factor;
    parameters_changed();
  }

 private:
  void do_run() override {
    const std::size_t size = data_->buffer().size()[0];
    enqueue(kernel_, {{size}, {tuning_.wgs}}, data_, factor_);
  }
  std::vector<tune::named_value> do_parameters() const override {
    return tune::parameter_list()
        .add("shape", data_->required_layout().size())
        .add("factor", factor_)
        .add("tuning", tuning_);
  }

  scale_tuning tuning_;
  tune::kernel kernel_;
  tune::slot_ref<float> data_;
  float factor_ = 1;
};

// clang-format off
// [remaker]
const tune::remaker<scale> remake_scale{
    [](const tune::command_queue& queue, const tune::remade_parameters& from) {
      scale made(queue, from.extents("shape")[0], from.get<scale_tuning>("tuning"));
      made.set_factor(from.get<float>("factor"));
      return made;
    }};
// [remaker]
// clang-format on

struct scale_key {
  bool in_place = true;
};

}  // namespace capture_guide_test

LIBTUNE_FIELDS(capture_guide_test::scale_key, in_place)

namespace capture_guide_test {

/// The template of scale, of which the guide needs the autotuner alone.
struct scale_template {
  static const tune::autotuner<scale_key, scale_tuning> autotune;
};

const tune::autotuner<scale_key, scale_tuning> scale_template::autotune{
    {.name = "capture_guide.scale", .version = 0, .test = {}},
    [](tune::tuning_session& session, const scale_key&) {
      auto queue = session.context().create_tuning_command_queue();
      tune::space<scale_tuning> space;
      space.add(&scale_tuning::wgs, {32, 64});
      return session.tune(space, [&](const scale_tuning& tuning) {
        return tune::make_measure(queue, scale(queue, 512, tuning), tune::workload(queue),
                                  tune::answer());
      });
    }};

// clang-format off
// [tuned_by]
const tune::tuned_by<scale> scale_is_tuned{
    scale_template::autotune,
    [](const tune::remade_parameters&) { return scale_key{}; },  // of the captured operation
    [](const tune::remade_parameters&) -> tune::tuned_results {
      return {{"data", {.relative = 1e-6}}};
    }};
// [tuned_by]
// clang-format on

LIBTUNE_DEVICE_TEST_CASE("the guide's pipeline is captured, and its frame runs again", device) {
  const tune::testing::temporary_directory temporary;
  const std::filesystem::path folder = temporary.path();
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  auto turn = transpose_template(context, tune::dtype::float32).instantiate(queue, 16, 64);
  scale scaling(queue, 1024, {});
  turn.ensure_all_bound();
  scaling.ensure_all_bound();
  turn.buffer("src").fill(queue, 2.0F);
  scaling.buffer("data").fill(queue, 3.0F);
  int frames_so_far = 0;
  const auto running = [&] { return ++frames_so_far <= 20; };
  // clang-format off
  // [capture]
  tune::capture frames("receiver", {.folder = folder, .each_nth = 10});
  const auto turning = frames.add("turn", turn, {.unchanged = {"src"}, .overwritten = {"dest"}});
  const auto scaled = frames.add("scale", scaling);
  frames.prepare();  // allocates
  tune::seal({.scope = tune::seal_scope::this_thread});
  while (running()) {
    tune::frame_snapshot frame = frames.begin();
    turning.run(frame);  // in place of turn.run()
    scaled.run(frame);
    frames.end(frame);
  }
  // [capture]
  // clang-format on
  tune::unseal(tune::seal_scope::this_thread);
  REQUIRE(frames.wait());
  CHECK(frames.counts().failed == 0);
  REQUIRE(frames.counts().written + frames.counts().skipped == 2);
  const std::filesystem::path file = std::filesystem::directory_iterator(folder)->path();
  // clang-format off
  // [test]
  const tune::testing::captured_frames captured(file);
  captured.check_replay(queue);  // all operations of all frames, bit by bit

  tune::workload work(queue);  // or one operation, in another implementation
  tune::answer expected;
  captured.fill(work, "turn");
  captured.complete(expected, queue, "turn", tune::tolerance::exact());
  auto other = transpose_template(context, tune::dtype::float32,
                                  tune::operations::transpose_tuning{.tile = 16})
                   .instantiate(queue, 16, 64);
  CHECK(tune::find_fault(other, work, expected) == std::nullopt);
  // [test]
  // clang-format on
  CHECK(tune::find_captured_keys(folder).keys.size() == 2);
}

}  // namespace capture_guide_test
