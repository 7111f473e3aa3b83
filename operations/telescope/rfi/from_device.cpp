// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/from_device.hpp"

#include <fmt/format.h>
#include <string>
#include <utility>

#include "operations/telescope/rfi/samples.hpp"

namespace tune::operations::rfi {
namespace {

void check_input(const background_key& key, bool is_amplitude, const shape& size,
                 flags_pointer flags) {
  if (size.rank() != 2) {
    throw argument_error(
        fmt::format("samples have the shape {}; they have to be channels x "
                    "baselines",
                    to_string(size)));
  }
  if (key.is_amplitude != is_amplitude) {
    throw type_error(fmt::format("the background was made for {}, and got {}",
                                 key.is_amplitude ? "amplitudes" : "complex samples",
                                 is_amplitude ? "amplitudes" : "complex samples"));
  }
  const auto given = flags == nullptr            ? flag_use::no_flags
                     : flags->size().rank() == 1 ? flag_use::channel_flags
                                                 : flag_use::full_flags;
  if (given == key.flag_use) return;
  throw type_error(fmt::format("the background was made for {}, and got {}",
                               tune::to_string(value_traits<flag_use>::to_value(key.flag_use)),
                               tune::to_string(value_traits<flag_use>::to_value(given))));
}

/// Runs an operation on samples and flags.
template <class Result, class Sample>
host_array<Result> run(operation& op, command_queue queue, const host_array<Sample>& samples,
                       const char* flags_slot, flags_pointer flags, const char* result) {
  op.ensure_all_bound();
  op.buffer("vis").set(queue, samples);
  if (flags != nullptr) op.buffer(flags_slot).set(queue, *flags);
  op.run();
  host_array<Result> found(op.buffer(result).size());
  op.buffer(result).get(queue, found);
  return found;
}

template <class Sample>
host_array<float> subtract(const background_median_filter_template& made,
                           const command_queue& queue, const host_array<Sample>& samples,
                           flags_pointer flags) {
  check_input(made.key(), std::is_same_v<Sample, float>, samples.size(), flags);
  auto op = made.instantiate(queue, samples.size()[0], samples.size()[1]);
  return in_order(run<float>(op, queue, samples, "flags", flags, "deviations"), made.key().order);
}

template <class Sample>
host_array<std::uint8_t> flag(const flagger_template& made, const command_queue& queue,
                              const host_array<Sample>& samples, flags_pointer flags) {
  check_input(made.background().key(), std::is_same_v<Sample, float>, samples.size(), flags);
  auto op = made.instantiate(queue, samples.size()[0], samples.size()[1]);
  return run<std::uint8_t>(op, queue, samples, "input_flags", flags, "flags");
}

void check_matrix(const shape& size) {
  if (size.rank() == 2) return;
  throw argument_error(
      fmt::format("deviations have the shape {}; they have to be channels x "
                  "baselines",
                  to_string(size)));
}

}  // namespace

background_from_device::background_from_device(background_median_filter_template made,
                                               command_queue queue)
    : made_(std::move(made)), queue_(std::move(queue)) {}

host_array<float> background_from_device::operator()(const host_array<std::complex<float>>& vis,
                                                     flags_pointer flags) const {
  return subtract(made_, queue_, vis, flags);
}

host_array<float> background_from_device::operator()(const host_array<float>& amplitudes,
                                                     flags_pointer flags) const {
  return subtract(made_, queue_, amplitudes, flags);
}

noise_estimate_from_device::noise_estimate_from_device(noise_estimate_template made,
                                                       command_queue queue)
    : made_(std::move(made)), queue_(std::move(queue)) {}

host_array<float> noise_estimate_from_device::operator()(
    const host_array<float>& deviations) const {
  check_matrix(deviations.size());
  command_queue queue = queue_;
  auto op = made_.instantiate(queue, deviations.size()[0], deviations.size()[1]);
  op.ensure_all_bound();
  op.buffer("deviations").set(queue, in_order(deviations, made_.input_order()));
  op.run();
  return op.buffer("noise").get<float>(queue);
}

threshold_from_device::threshold_from_device(flagger_threshold made, command_queue queue)
    : made_(std::move(made)), queue_(std::move(queue)) {}

host_array<std::uint8_t> threshold_from_device::operator()(const host_array<float>& deviations,
                                                           const host_array<float>& noise) const {
  check_matrix(deviations.size());
  command_queue queue = queue_;
  const auto op = made_.instantiate(queue, deviations.size()[0], deviations.size()[1]).operation;
  op->ensure_all_bound();
  op->buffer("deviations").set(queue, in_order(deviations, made_.input_order()));
  op->buffer("noise").set(queue, noise);
  op->run();
  host_array<std::uint8_t> flags(op->buffer("flags").size());
  op->buffer("flags").get(queue, flags);
  return in_order(std::move(flags), made_.output_order());
}

flagger_from_device::flagger_from_device(flagger_template made, command_queue queue)
    : made_(std::move(made)), queue_(std::move(queue)) {}

host_array<std::uint8_t> flagger_from_device::operator()(const host_array<std::complex<float>>& vis,
                                                         flags_pointer flags) const {
  return flag(made_, queue_, vis, flags);
}

host_array<std::uint8_t> flagger_from_device::operator()(const host_array<float>& amplitudes,
                                                         flags_pointer flags) const {
  return flag(made_, queue_, amplitudes, flags);
}

}  // namespace tune::operations::rfi
