// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuned operation of a fake device whose times and results depend on contents: dest = min(src,
// limit).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/tuned_by.hpp"

namespace tuned_clip {

struct clip_key {
  bool wide = false;
};
struct clip_tuning {
  std::int32_t way = 0;
};

}  // namespace tuned_clip

LIBTUNE_FIELDS(tuned_clip::clip_key, wide)
LIBTUNE_FIELDS(tuned_clip::clip_tuning, way)

namespace tuned_clip {

/// The ways to clip. Without large values the first is the slowest; the last forgets values above
/// its limit.
enum way : std::int32_t { plain, guessing, forgetful };
constexpr std::int32_t large = 100;
constexpr std::int32_t forgotten = 1000;

inline tune::testing::fake_device make_device() {
  const tune::testing::fake_device made;
  made.add_kernel("clip", 4, [](tune::testing::fake_launch& launch) {
    const auto from = launch.buffer<std::int32_t>(0);
    const auto to = launch.buffer<std::int32_t>(1);
    const auto limit = launch.argument<std::int32_t>(2);
    const auto size = static_cast<std::size_t>(launch.argument<std::int32_t>(3));
    const bool forgets = launch.integer("way") == forgetful;
    for (std::size_t i = 0; i < size; ++i) {
      to[i] = forgets && from[i] > forgotten ? 0 : std::min(from[i], limit);
    }
  });
  made.set_time([](const tune::testing::fake_launch& launch) {
    using std::chrono::microseconds;
    if (launch.kernel() != "clip") return microseconds(1);
    const auto from = launch.buffer<std::int32_t>(0);
    const auto size = static_cast<std::size_t>(launch.argument<std::int32_t>(3));
    const auto items = from.first(size);
    const bool has_large =
        std::any_of(items.begin(), items.end(), [](std::int32_t item) { return item > large; });
    switch (launch.integer("way")) {
      case plain: return microseconds(10);
      case guessing: return microseconds(has_large ? 50 : 2);
      default: return microseconds(1);
    }
  });
  return made;
}

class clip : public tune::operation {
 public:
  clip(const tune::command_queue& queue, const clip_tuning& tuning, bool wide, std::size_t size,
       std::int32_t limit)
      : operation(queue),
        kernel_(tune::compile(queue.context(), {"clip.kernel", "KERNEL void clip() {}"},
                              tune::defines(tuning))
                    .create_kernel("clip")),
        tuning_(tuning),
        src_(add_slot<std::int32_t>("src", {size})),
        dest_(add_slot<std::int32_t>("dest", {size})),
        wide_(wide),
        size_(size),
        limit_(limit) {}

 private:
  void do_run() override {
    enqueue(kernel_, {{size_}, {1}}, src_, dest_, limit_, static_cast<std::int32_t>(size_));
  }
  std::vector<tune::named_value> do_parameters() const override {
    return tune::parameter_list()
        .add("wide", wide_)
        .add("shape", tune::shape{size_})
        .add("limit", limit_)
        .add("tuning", tuning_);
  }

  tune::kernel kernel_;
  clip_tuning tuning_;
  tune::slot_ref<std::int32_t> src_;
  tune::slot_ref<std::int32_t> dest_;
  bool wide_;
  std::size_t size_;
  std::int32_t limit_;
};

/// The author tunes 16 small numbers, which the limit does not change.
inline const tune::autotuner<clip_key, clip_tuning> autotune{
    {.name = "tuned_clip.autotune", .version = 0, .test = {}},
    [](tune::tuning_session& session, const clip_key& key) {
      auto queue = session.context().create_tuning_command_queue();
      const std::vector<std::int32_t> small(16, 7);
      tune::workload work(queue);
      work.set("src", small, {small.size()});
      tune::answer expected;
      expected.add("dest", small, {small.size()});
      tune::space<clip_tuning> space;
      space.add(&clip_tuning::way, {plain, guessing, forgetful});
      return session.tune(space, [&](const clip_tuning& tuning) {
        return tune::make_measure(queue, clip(queue, tuning, key.wide, small.size(), 50), work,
                                  expected);
      });
    }};

inline const tune::remaker<clip> remake_clip{
    [](const tune::command_queue& queue, const tune::remade_parameters& from) {
      return clip(queue, from.get<clip_tuning>("tuning"), from.get<bool>("wide"),
                  from.extents("shape")[0], from.get<std::int32_t>("limit"));
    }};

inline const tune::tuned_by<clip> clip_is_tuned{autotune, [](const tune::remade_parameters& from) {
                                                  return clip_key{.wide = from.get<bool>("wide")};
                                                }};

}  // namespace tuned_clip
