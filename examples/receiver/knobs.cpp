// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/receiver/knobs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace receiver {
namespace {

// [pipeline]
/// A receiver whose frames have a given number of heaps.
class tuned_receiver final : public tune::tuned_pipeline {
 public:
  tuned_receiver(const tune::context& context, const settings& sizes, const digitiser& input,
                 const tune::configuration& knobs, double deadline)
      : sizes_(sizes), knobs_(from(knobs)), telescope_(context, sizes, input, false) {
    telescope_.set_deadline(deadline);
    constexpr std::size_t frames = 8;
    telescope_.run(frames, false, {.uploads = 2, .graphs = false});  // for later changes
    telescope_.run(frames, false, knobs_.run);
    frame_seconds_ = telescope_.run(frames, false, knobs_.run).elapsed / frames;
  }

  tune::frame_record run(const tune::pipeline_load& load) override {
    const bool is_paced = load.rate > 0;
    if (is_paced) telescope_.set_sample_rate(load.rate);
    const double period =
        is_paced ? static_cast<double>(sizes_.samples()) / load.rate : frame_seconds_;
    const double frames = std::max(8.0, std::ceil(load.duration.count() / period));
    telescope_.run(static_cast<std::size_t>(frames), is_paced, knobs_.run);
    return telescope_.record();
  }

  bool change(const tune::configuration& to) override {
    const chosen_knobs wanted = from(to);
    if (wanted.heaps != knobs_.heaps) return false;
    knobs_ = wanted;
    return true;
  }

 private:
  settings sizes_;
  chosen_knobs knobs_;
  telescope telescope_;
  double frame_seconds_;  // without waiting for input
};
// [pipeline]

}  // namespace

// [knobs]
tune::pipeline_space knobs_of(const settings& sizes, bool polls) {
  tune::pipeline_space knobs({.name = "receiver.pipeline",
                              .version = 1,
                              .key = {{"antennas", sizes.antennas},
                                      {"channels", sizes.channels},
                                      {"bits", sizes.bits},
                                      {"may_poll", polls}}});
  std::vector<std::size_t> heaps{sizes.heaps};
  for (std::size_t each = 1; each <= 16; each *= 2) {
    if (each != sizes.heaps) heaps.push_back(each);
  }
  knobs.knob("heaps", heaps);
  knobs.knob("in_flight", {3, 2, 4, 6});
  knobs.knob("uploads", {1, 2});
  knobs.knob("graphs", {true, false});
  if (polls) knobs.knob("polls", {true, false});
  return knobs;
}
// [knobs]

chosen_knobs from(const tune::configuration& knobs) {
  const bool polls = knobs.has("polls") && knobs["polls"] != 0;
  return {.heaps = static_cast<std::size_t>(knobs["heaps"]),
          .run = {.in_flight = static_cast<std::size_t>(knobs["in_flight"]),
                  .uploads = static_cast<std::size_t>(knobs["uploads"]),
                  .graphs = knobs["graphs"] != 0,
                  .wait = polls ? tune::loop_wait::polling : tune::loop_wait::asleep}};
}

tune::pipeline_maker receivers(const tune::context& context, const settings& sizes,
                               double deadline) {
  using input_of_heaps = std::map<std::size_t, std::unique_ptr<digitiser>>;
  return [=, inputs = std::make_shared<input_of_heaps>()](const tune::configuration& knobs) {
    settings own = sizes;
    own.heaps = from(knobs).heaps;
    own.frames_of_dump = std::max<std::size_t>(1, sizes.frames_of_dump * sizes.heaps / own.heaps);
    auto& input = (*inputs)[own.heaps];
    if (!input) input = std::make_unique<digitiser>(own);
    return std::make_unique<tuned_receiver>(context, own, *input, knobs, deadline);
  };
}

// [tune]
tune::tuned_knobs tune_knobs(const tune::context& context, const settings& sizes, bool polls,
                             tune::kernel_turns kernels, double deadline, double seconds,
                             const std::function<void(const tune::pipeline_run&)>& listener) {
  return tune::tune_pipeline(context, knobs_of(sizes, polls),
                             {.deadline = std::chrono::duration<double>(deadline)},
                             receivers(context, sizes, deadline),
                             {.contest = {.budget = std::chrono::duration<double>(seconds)},
                              .configurations = 160,
                              .built = 5,
                              .kernels = kernels,
                              .listener = listener});
}
// [tune]

}  // namespace receiver
