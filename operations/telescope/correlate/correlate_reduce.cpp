// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/correlate/correlate_reduce.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <utility>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/correlate/reference.hpp"
#include "operations/workload.hpp"

#include "correlate_reduce.kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t most_channels = 65535;  // as many as a launch can have groups along y

program build(const context& context, const correlate_reduce_tuning& tuning) {
  require_possible(is_group(tuning.wgs) && is_unrolled(tuning.items), "correlate_reduce", tuning,
                   "a group has 1 to 4096 items, of 1 to 64 visibilities");
  return compile(context,
                 {"correlate_reduce.kernel", std::string(embedded::correlate_reduce_kernel)},
                 defines(tuning));
}

/// Accumulators at and around the bounds, some of which must be clamped.
struct known_dump {
  static constexpr std::size_t antennas = 19;
  static constexpr std::size_t channels = 3;

  known_dump(const command_queue& queue, std::size_t its_copies) : copies(its_copies), work(queue) {
    const std::size_t baselines = baseline_count(antennas);
    host_array<std::int64_t> visibilities({copies, channels, baselines, 4, 2});
    host_array<std::uint8_t> absent({baselines});
    std::uint32_t state = 3;
    const auto draw = [&] { return next_number(state) >> 8; };
    for (std::size_t i = 0; i < visibilities.layout().bytes() / sizeof(std::int64_t); ++i) {
      const std::int64_t edge = std::int64_t{1} << 31;
      const auto near = static_cast<std::int64_t>(draw() % 3) - 1;
      const auto any = static_cast<std::int64_t>(draw()) - (1 << 23);
      const std::uint32_t kind = draw() % 4;
      visibilities.data()[i] = kind == 0 ? edge + near : kind == 1 ? near - edge : any * (1 << 9);
    }
    for (std::size_t i = 0; i < baselines; ++i) absent(i) = draw() % 5 == 0 ? draw() % 255 + 1 : 0;
    auto reduced = reduce_on_host(visibilities, absent);
    expected.add("out", std::move(reduced.out), tolerance::exact());
    expected.add("clamped", std::move(reduced.clamped), tolerance::exact());
    work.set("visibilities", std::move(visibilities)).set("absent", std::move(absent));
  }

  std::optional<std::string> find_wrong(const program& built,
                                        const correlate_reduce_tuning& tuning) const {
    correlate_reduce op(work.queue(), built, tuning, antennas, channels, copies);
    return find_fault(op, work, expected);
  }

  std::size_t copies;
  workload work;
  answer expected;
};

}  // namespace

correlate_reduce::correlate_reduce(const command_queue& queue, const program& built,
                                   const correlate_reduce_tuning& tuning, std::size_t antennas,
                                   std::size_t channels, std::size_t copies)
    : operation(queue),
      kernel_(built.create_kernel("correlate_reduce")),
      tuning_(tuning),
      channels_(channels),
      products_(4 * baseline_count(antennas)),
      copies_(static_cast<std::uint32_t>(copies)),
      visibilities_(add_slot<std::int64_t>("visibilities",
                                           {copies, channels, baseline_count(antennas), 4, 2})),
      absent_(add_slot<std::uint8_t>("absent", {baseline_count(antennas)})),
      out_(add_slot<std::int32_t>("out", {channels, 4 * baseline_count(antennas), 2})),
      clamped_(add_slot<std::uint32_t>("clamped", {1})) {
  const std::size_t groups = divide_up(products_, tuning.wgs * tuning.items);
  range_ = {{groups * tuning.wgs, channels}, {tuning.wgs, 1}};
}

void correlate_reduce::do_run() {
  clamped_->buffer().zero(queue());
  enqueue(kernel_, range_, out_, clamped_, visibilities_, absent_, products_, copies_);
}

std::vector<named_value> correlate_reduce::do_parameters() const {
  return parameter_list()
      .add("shape", shape{copies_, channels_, products_ / 4})
      .add("tuning", tuning_);
}

correlate_reduce_template::correlate_reduce_template(
    const context& context, std::size_t copies,
    const std::optional<correlate_reduce_tuning>& tuning)
    : tuning_(tuning ? *tuning : autotune(context, {copies})), program_(build(context, tuning_)) {}

correlate_reduce correlate_reduce_template::instantiate(const command_queue& queue,
                                                        std::size_t antennas, std::size_t channels,
                                                        std::size_t copies) const {
  if (antennas == 0 || channels == 0 || copies == 0) {
    throw argument_error(fmt::format(
        "correlate_reduce needs antennas, channels and copies, not {}, {} and {} of them", antennas,
        channels, copies));
  }
  if (channels > most_channels || copies > std::numeric_limits<std::uint32_t>::max()) {
    throw argument_error(
        fmt::format("correlate_reduce takes {} channels at most, not {}; reduce a part at a time",
                    most_channels, channels));
  }
  return {queue, program_, tuning_, antennas, channels, copies};
}

space<correlate_reduce_tuning> tuning_space(const correlate_reduce_key&) {
  space<correlate_reduce_tuning> space;
  space.add(&correlate_reduce_tuning::wgs, {64, 128, 256, 512, 1024});
  space.add(&correlate_reduce_tuning::items, {1, 2, 4, 8});
  space.needs([](const correlate_reduce_tuning& t) {
    return resources{.work_group = {t.wgs, 1, 1}};
  });
  return space;
}

const autotuner<correlate_reduce_key, correlate_reduce_tuning> correlate_reduce_template::autotune{
    {.name = "operations.correlate_reduce_template.autotune", .version = 0, .test = {}},
    [](tuning_session& session, const correlate_reduce_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      constexpr std::size_t antennas = 80;
      const std::size_t baselines = baseline_count(antennas);
      const std::size_t channel_bytes = key.copies * baselines * 4 * 2 * sizeof(std::int64_t);
      const std::size_t channels =
          std::clamp<std::size_t>(workload_bytes(session) / channel_bytes, 1, most_channels);
      const device_array visibilities(context,
                                      {dtype::int64, {key.copies, channels, baselines, 4, 2}});
      visibilities.zero(queue);
      const device_array absent(context, {dtype::uint8, {baselines}});
      absent.zero(queue);
      const workload work(queue);
      const known_dump known(queue, key.copies);
      const std::size_t written = channels * baselines * 4 * 2 * sizeof(std::int32_t);
      const declared_work moved{.bytes =
                                    bytes_of(visibilities, absent) + static_cast<double>(written)};
      return session.tune(tuning_space(key), [&](const correlate_reduce_tuning& tuning) {
        const program built = build(context, tuning);
        correlate_reduce op(queue, built, tuning, antennas, channels, key.copies);
        op.bind("visibilities", visibilities);
        op.bind("absent", absent);
        return make_checked_measure(queue, std::move(op), work, built, tuning, known).work(moved);
      });
    }};

namespace {
// The number of antennas with this many baselines, their own included.
std::size_t antennas_with(std::size_t baselines) {
  std::size_t antennas = 1;
  while (baseline_count(antennas) < baselines) ++antennas;
  return antennas;
}

const remaker<correlate_reduce> remake_correlate_reduce{
    [](const command_queue& queue, const remade_parameters& from) {
      const shape size = from.extents("shape");
      return correlate_reduce_template(queue.context(), size[0],
                                       from.get<correlate_reduce_tuning>("tuning"))
          .instantiate(queue, antennas_with(size[2]), size[1], size[0]);
    }};

const tuned_by<correlate_reduce> correlate_reduce_is_tuned{
    correlate_reduce_template::autotune,
    [](const remade_parameters& from) { return correlate_reduce_key{from.extents("shape")[0]}; },
    [](const remade_parameters&) -> tuned_results {
      return {{"out", tolerance::exact()}, {"clamped", tolerance::exact()}};
    }};
}  // namespace

}  // namespace tune::operations
