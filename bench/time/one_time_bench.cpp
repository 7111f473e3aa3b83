// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a score means the same through every API that offers one piece of hardware.
//
// The naive diffusion kernel, with one work group for all, is measured on each device through
// make_measure, as a search would: 20 rounds in turn, each giving the median of 200 runs. Reported
// for each size: the median of the rounds, and its ratio to that of the first device with the same
// name. Sizes go from a few microseconds to several hundred, because what would differ between
// APIs is the cost of looking at a short kernel.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "examples/diffusion/diffusion.hpp"
#include "examples/diffusion/reference.hpp"
#include "libtune/libtune.hpp"

namespace {

constexpr int rounds = 20;
constexpr int runs = 200;
constexpr diffusion::diffusion_tuning tuning{.block_size_x = 64, .block_size_y = 8};

struct contender {
  tune::device device;
  std::unique_ptr<tune::measure> prepared;
  std::vector<double> medians;
};

tune::measure prepare(const tune::device& device, std::size_t size) {
  const tune::context context = device.create_context();
  auto queue = context.create_tuning_command_queue();
  auto step = diffusion::diffusion_template(context, {}, tuning).instantiate(queue, size, size);
  step.ensure_all_bound();
  const auto field = diffusion::make_test_field(size);
  step.buffer("u").set(queue, field);
  step.buffer("u_new").set(queue, field);
  return tune::make_measure(queue, std::move(step));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(std::vector<contender> contenders, std::size_t size) {
  for (contender& each : contenders) {
    each.prepared = std::make_unique<tune::measure>(prepare(each.device, size));
    each.prepared->run();
  }
  for (int round = 0; round < rounds; ++round) {
    for (contender& each : contenders) {
      each.medians.push_back(tune::samples(each.prepared->sample(runs)).median().count());
    }
  }
  for (const contender& each : contenders) {
    const auto first = std::find_if(
        contenders.begin(), contenders.end(),
        [&](const contender& other) { return other.device.name() == each.device.name(); });
    std::printf("%5zu x %-5zu  %-8s %-28.28s %10.2f us   ratio %.3f\n", size, size,
                each.device.info().backend.c_str(), each.device.name().c_str(),
                median(each.medians) / 1000, median(each.medians) / median(first->medians));
  }
}

}  // namespace

int main() {
  for (const std::size_t size : {256, 1024, 4096, 8192}) {
    std::vector<contender> contenders;
    for (const tune::device& device : tune::all_devices()) {
      if (device.kind() != tune::device_kind::gpu) continue;
      contenders.push_back({device, nullptr, {}});
    }
    compare(std::move(contenders), size);
  }
}
