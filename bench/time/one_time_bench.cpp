// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: does a score mean the same through every API of one piece of hardware?
//
// A kernel with only a chain of dependent multiply-adds, whose time no compiler can change, is
// measured on each device through make_measure, as in a search: 20 rounds in turn, each giving the
// median of 200 runs. Reported for each length of the chain: the median of the rounds, and its
// ratio to the time of the first device with the same name. A difference between APIs would come
// from the cost of timing a kernel, so the times go from a few microseconds to about a millisecond.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench/enqueue/host_time.hpp"
#include "libtune/libtune.hpp"

namespace {

using bench::median;

constexpr int rounds = 20;
constexpr int runs = 200;
constexpr std::size_t items = 1 << 14;
constexpr std::size_t group = 128;

const tune::kernel_source source{"chain.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(group, 1, 1)
void chain(GLOBAL float* data, float factor, uint length) {
  float x = data[get_global_id(0)];
  for (uint i = 0; i < length; ++i) x = fma(x, factor, 1.0f);
  data[get_global_id(0)] = x;
})"};

class chain final : public tune::operation {
 public:
  chain(const tune::command_queue& queue, const tune::program& program, unsigned length)
      : operation(queue),
        kernel_(program.create_kernel("chain")),
        data_(add_slot("data", {items}, tune::dtype::float32)),
        length_(length) {}

 private:
  void do_run() override { enqueue(kernel_, {{items}, {group}}, data_, 0.5F, length_); }

  tune::kernel kernel_;
  tune::io_slot& data_;
  unsigned length_;
};

struct contender {
  tune::device device;
  std::unique_ptr<tune::measure> prepared;
  std::vector<double> medians;
};

tune::measure prepare(const tune::device& device, unsigned length) {
  const tune::context context = device.create_context();
  auto queue = context.create_tuning_command_queue();
  const auto program =
      tune::compile(context, source, tune::defines().add("group", static_cast<int>(group)));
  chain operation(queue, program, length);
  operation.ensure_all_bound();
  operation.buffer("data").zero(queue);
  return tune::make_measure(queue, std::move(operation));
}

void compare(std::vector<contender> contenders, unsigned length) {
  for (contender& each : contenders) {
    each.prepared = std::make_unique<tune::measure>(prepare(each.device, length));
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
    std::printf("%8u steps  %-8s %-28.28s %10.2f us   ratio %.3f\n", length,
                each.device.info().backend.c_str(), each.device.name().c_str(),
                median(each.medians) / 1000, median(each.medians) / median(first->medians));
  }
}

}  // namespace

int main() {
  for (const unsigned length : {1'000U, 10'000U, 50'000U, 400'000U}) {
    std::vector<contender> contenders;
    for (const tune::device& device : tune::all_devices()) {
      if (device.kind() != tune::device_kind::gpu) continue;
      contenders.push_back({device, nullptr, {}});
    }
    compare(std::move(contenders), length);
  }
}
