// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/unpack/unpack.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/unpack/reference.hpp"
#include "operations/workload.hpp"

#include "packed_samples.kernel.hpp"
#include "unpack.kernel.hpp"

namespace tune::operations {
namespace {

unpack_key checked_key(const unpack_key& key) {
  check_packed_bits(key.bits, "unpack");
  if (key.type == dtype::float32 || key.type == dtype::int16) return key;
  throw argument_error(fmt::format("unpack cannot write samples as {}; it writes float32 or int16",
                                   dtype_name(key.type)));
}

unpack_tuning checked_tuning(const unpack_tuning& t) {
  const bool has_width = t.adjacent == 2 || t.adjacent == 4 || t.adjacent == 8;
  require_possible(is_group(t.wgs) && has_width && is_unrolled(t.rounds), "unpack", t,
                   "a group has 1 to 4096 items, adjacent is 2, 4 or 8, and rounds are 1 to 64");
  return t;
}

program build(const context& context, const unpack_key& key, const unpack_tuning& tuning) {
  return compile(context,
                 {"unpack.kernel", std::string(embedded::packed_samples_kernel) +
                                       std::string(embedded::unpack_kernel)},
                 defines(tuning)
                     .add("bits", static_cast<int>(key.bits))
                     .add("is_float", key.type == dtype::float32 ? 1 : 0));
}

/// Rows that the host unpacks, too, with partial work groups and words.
struct unpack_case {
  unpack_case(command_queue queue, const unpack_key& its_key, std::size_t its_samples)
      : key(its_key), samples(its_samples), work(std::move(queue)) {
    host_array<std::uint8_t> packed({2, packed_row_bytes(samples, key.bits)});
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < 2 * packed.size()[1]; ++i) {
      packed.data()[i] = static_cast<std::uint8_t>(next_number(state) >> 24);
    }
    if (key.type == dtype::float32) {
      expected.add("out", unpack_on_host<float>(packed, key.bits, samples), tolerance::exact());
    } else {
      expected.add("out", unpack_on_host<std::int16_t>(packed, key.bits, samples),
                   tolerance::exact());
    }
    work.set("samples", std::move(packed));
  }

  std::optional<std::string> find_wrong(const program& built, const unpack_tuning& tuning) const {
    unpack op(work.queue(), built, tuning, key, 2, samples);
    auto wrong = find_fault(op, work, expected);
    if (wrong) wrong = fmt::format("of 2 x {} samples: {}", samples, *wrong);
    return wrong;
  }

  unpack_key key;
  std::size_t samples;
  workload work;
  answer expected;
};

}  // namespace

unpack::unpack(const command_queue& queue, const program& built, const unpack_tuning& tuning,
               const unpack_key& key, std::size_t rows, std::size_t samples)
    : operation(queue),
      kernel_(built.create_kernel("unpack")),
      key_(key),
      tuning_(tuning),
      packed_(add_slot("samples",
                       {rows, dimension(packed_row_bytes(samples, key.bits), {.alignment = 4})},
                       dtype::uint8, padding_policy::any_valid)),
      out_(add_slot("out", {rows, dimension(samples, {.alignment = 8})}, key.type,
                    padding_policy::any_valid)),
      rows_(rows),
      samples_(samples) {}

void unpack::do_run() {
  if (rows_ == 0 || samples_ == 0) return;
  const std::size_t groups = divide_up(samples_, tuning_.wgs * tuning_.adjacent * tuning_.rounds);
  const nd_range range{{groups * tuning_.wgs, rows_}, {tuning_.wgs, 1}};
  const std::uint64_t row_words = packed_->buffer().layout().padded()[1] / sizeof(std::uint32_t);
  const std::uint64_t out_words =
      out_->buffer().layout().padded()[1] / (key_.type == dtype::float32 ? 1 : 2);
  enqueue(kernel_, range, out_, packed_, row_words, out_words, samples_);
}

std::vector<named_value> unpack::do_parameters() const {
  return parameter_list()
      .add("key", key_)
      .add("rows", rows_)
      .add("samples", samples_)
      .add("tuning", tuning_);
}

unpack_template::unpack_template(const context& context, const unpack_key& key,
                                 const std::optional<unpack_tuning>& tuning)
    : key_(checked_key(key)),
      tuning_(checked_tuning(tuning ? *tuning : autotune(context, key_))),
      program_(build(context, key_, tuning_)) {}

unpack unpack_template::instantiate(const command_queue& queue, std::size_t rows,
                                    std::size_t samples) const {
  return {queue, program_, tuning_, key_, rows, samples};
}

space<unpack_tuning> tuning_space(const unpack_key& /*key*/) {
  using t = unpack_tuning;
  space<t> space;
  space.add(&t::wgs, {64, 128, 256});
  space.add(&t::adjacent, {2, 4, 8});
  space.add(&t::rounds, {1, 2, 4});
  space.needs([](const t& c) { return resources{.work_group = {c.wgs, 1, 1}}; });
  return space;
}

const autotuner<unpack_key, unpack_tuning> unpack_template::autotune{
    {.name = "operations.unpack_template.autotune", .version = 0, .test = {}},
    [](tuning_session& session, const unpack_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const std::size_t count = computed_workload_bytes(session) / 8;
      const device_array samples(context, {dtype::uint8, {2, packed_row_bytes(count, key.bits)}});
      samples.zero(queue);
      const workload work(queue);
      const unpack_case odd(queue, key, 20011);
      const unpack_case short_rows(queue, key, 5);
      const double bytes = static_cast<double>(samples.layout().bytes()) +
                           static_cast<double>(2 * count * (key.type == dtype::float32 ? 4 : 2));
      return session.tune(tuning_space(key), [&](const unpack_tuning& tuning) {
        const program built = build(context, key, tuning);
        unpack op(queue, built, tuning, key, 2, count);
        op.bind("samples", samples);
        return make_checked_measure(queue, std::move(op), work, built, tuning, odd, short_rows)
            .work({.bytes = bytes});
      });
    }};

namespace {
const remaker<unpack> remake_unpack{[](const command_queue& queue, const remade_parameters& from) {
  return unpack_template(queue.context(), from.get<unpack_key>("key"),
                         from.get<unpack_tuning>("tuning"))
      .instantiate(queue, from.get<std::size_t>("rows"), from.get<std::size_t>("samples"));
}};

const tuned_by<unpack> unpack_is_tuned{
    unpack_template::autotune,
    [](const remade_parameters& from) { return from.get<unpack_key>("key"); }};
}  // namespace

}  // namespace tune::operations
