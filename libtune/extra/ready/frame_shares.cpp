// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ready/frame_shares.hpp"

#include <algorithm>
#include <optional>
#include <typeinfo>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"

namespace tune::detail {
namespace {

using seconds = std::chrono::duration<double>;

/// An operation that is timed, with its key.
struct leaf {
  operation* work;
  timed_key key;
  double times;
  std::vector<seconds> samples{};
};

std::optional<timed_key> key_of(const operation& of) {
  const std::string type = class_name(typeid(of));
  const auto declared = find_tuning_declaration(type);
  if (declared == nullptr) return std::nullopt;
  try {
    return timed_key{.function = declared->function().name,
                     .arguments = declared->key({type, of.parameters()})};
  } catch (const error& failure) {
    log(log_level::debug,
        "the key of an operation of class " + type + " is not known: " + failure.what());
    return std::nullopt;
  }
}

void add_leaves(operation& of, double times, std::vector<leaf>& to) {
  if (auto key = key_of(of)) {
    to.push_back({.work = &of, .key = *std::move(key), .times = times});
  } else if (of.children().empty()) {
    to.push_back({.work = &of, .key = {}, .times = times});
  } else {
    for (const named_operation& child : of.children()) add_leaves(*child.operation, times, to);
  }
}

/// Runs an operation, and returns its time on the device.
seconds time_run(operation& work) {
  tuning_command_queue queue(work.queue().impl());
  bool records = true;
  try {
    queue.start_recording();
  } catch (const argument_error&) {
    records = false;
  }
  const auto begin = std::chrono::steady_clock::now();
  work.run();
  if (records) {
    seconds sum{};
    for (const auto command : queue.stop_recording()) sum += command;
    return sum;
  }
  queue.finish();
  return std::chrono::steady_clock::now() - begin;
}

}  // namespace

std::vector<timed_key> time_frame(const std::vector<frame_part>& frame) {
  std::vector<leaf> leaves;
  for (const frame_part& part : frame) {
    if (part.work == nullptr) throw argument_error("a part of the frame has no operation");
    part.work->run();  // binds its slots; and drivers load much at the first launch
    part.work->queue().finish();
    add_leaves(*part.work, part.times, leaves);
  }
  constexpr int repeats = 3;
  for (int i = 0; i < repeats; ++i) {
    for (leaf& each : leaves) each.samples.push_back(time_run(*each.work));
  }
  std::vector<timed_key> timed;
  for (leaf& each : leaves) {
    const auto middle = each.samples.begin() + repeats / 2;
    std::ranges::nth_element(each.samples, middle);
    each.key.time = *middle * each.times;
    timed.push_back(std::move(each.key));
  }
  return timed;
}

}  // namespace tune::detail
