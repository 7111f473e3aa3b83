// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/percentile5/percentile5.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <utility>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/percentile5/reference.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/workload.hpp"

#include "percentile5.kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t most_items = 64;  // with more, too few registers remain for other values

percentile5_key ranked_key(std::size_t max_columns, bool is_amplitude) {
  if (max_columns == 0) throw argument_error("percentile5 ranks one column at least, not 0");
  return {.max_columns = max_columns, .is_amplitude = is_amplitude};
}

/// Returns the number of values that an item keeps in registers; 0 if it keeps none.
std::size_t kept_items(const percentile5_key& key, const percentile5_tuning& tuning) {
  const std::size_t items = round_up(divide_up(key.max_columns, tuning.size), tuning.vector);
  return tuning.keeps && items <= most_items ? items : 0;
}

element_type ranked_type(const percentile5_key& key) {
  return key.is_amplitude ? dtype::float32 : dtype::complex64;
}

void check_tuning(const percentile5_key& key, const percentile5_tuning& t) {
  const bool has_word = t.vector == 1 || t.vector == 2 || (t.vector == 4 && key.is_amplitude);
  const bool has_bins = std::has_single_bit(t.bins) && t.bins >= 256 && t.bins <= 4096;
  const bool has_passes = t.pass_bits <= 2 || t.pass_bits == 4;
  const bool possible = is_group(t.size, t.rows) && has_word && has_bins && has_passes;
  const bool has_sample =
      possible && t.pass_bits == 0 && t.bins <= 512 && t.size % 32 == 0 && kept_items(key, t) > 0;
  require_possible(possible && (!t.sampled || has_sample), "percentile5", t,
                   "vector is 1, 2, or 4 of amplitudes; bins are a power of 2 from 256 to 4096; "
                   "pass_bits are 0, 1, 2 or 4; and a sample takes rows that are kept, 256 or 512 "
                   "bins, no pass_bits, and a multiple of 32 for size");
}

program build(const context& context, const percentile5_key& key,
              const percentile5_tuning& tuning) {
  check_tuning(key, tuning);
  defines macros(tuning);
  macros.add("is_amplitude", key.is_amplitude ? 1 : 0);
  macros.add("items", static_cast<int>(kept_items(key, tuning)));
  return compile(context, {"percentile5.kernel", std::string(embedded::percentile5_kernel)},
                 macros);
}

void check_ranked(const column_range& range, std::size_t columns) {
  if (range.begin >= range.end || range.end > columns) {
    throw argument_error(
        fmt::format("percentile5 cannot rank the columns from {} to {} of {}; the range has to be "
                    "in them, and not empty",
                    range.begin, range.end, columns));
  }
  if (range.end - range.begin > std::numeric_limits<std::uint32_t>::max()) {
    throw argument_error(
        fmt::format("percentile5 cannot rank {} columns of a row; it counts to 2^32 - 1",
                    range.end - range.begin));
  }
}

std::size_t local_memory_bytes(const percentile5_tuning& t) {
  const std::size_t others = (t.size * 12 + 64) * t.rows;  // the most that WORK_GROUP_REDUCE needs
  const std::size_t candidates = t.sampled ? 1024 * t.rows : 0;
  return t.rows * t.bins * 4 + others + candidates;
}

/// Rows whose percentiles the host computes as well, including all special cases.
template <class T>
host_array<T> special_rows(std::size_t rows, std::size_t columns) {
  host_array<T> src({rows, columns});
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::uint32_t state = 7;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < columns; ++c) {
      const auto drawn = static_cast<float>(next_number(state) >> 8) * 0x1p-24F;
      float value = drawn - 0.25F;
      if (row % 5 == 1) value = drawn < 0.3F ? 0.0F : drawn < 0.4F ? nan : 100 * drawn;
      if (row % 5 == 2) value = drawn < 0.01F ? infinity : drawn < 0.02F ? 3e38F : drawn * drawn;
      if (row % 5 == 3) value = static_cast<float>(state >> 29);
      if (row % 5 == 4) value = row == 4 ? nan : -1e-40F;
      src(row, c) = T(value);
    }
  }
  return src;
}

struct ranked_rows {
  ranked_rows(const command_queue& queue, const percentile5_key& its_key, std::size_t its_rows,
              std::size_t its_columns, const column_range& its_range)
      : key(its_key), rows(its_rows), columns(its_columns), range(its_range), work(queue) {
    key.is_amplitude ? set<float>() : set<std::complex<float>>();
  }

  template <class T>
  void set() {
    auto src = special_rows<T>(rows, columns);
    const double relative = key.is_amplitude ? 0 : 1e-6;
    expected.add("dest", percentile5_on_host(src, range),
                 {.absolute = 0, .relative = relative, .nan_expected = true});
    work.set("src", std::move(src));
  }

  std::optional<std::string> find_wrong(const program& built,
                                        const percentile5_tuning& tuning) const {
    percentile5 op(work.queue(), built, tuning, key, rows, columns, range);
    auto wrong = find_fault(op, work, expected);
    if (wrong) wrong = fmt::format("of {} x {} values: {}", rows, columns, *wrong);
    return wrong;
  }

  percentile5_key key;
  std::size_t rows;
  std::size_t columns;
  column_range range;
  workload work;
  answer expected;
};

}  // namespace

percentile5::percentile5(const command_queue& queue, const program& built,
                         const percentile5_tuning& tuning, const percentile5_key& key,
                         std::size_t rows, std::size_t columns, const column_range& range)
    : operation(queue),
      kernel_(built.create_kernel(range.end - range.begin <= tuning.size * kept_items(key, tuning)
                                      ? "percentiles"
                                      : "percentiles_of_long_rows")),
      tuning_(tuning),
      src_(add_slot("src", {rows, columns}, ranked_type(key), padding_policy::any_valid)),
      dest_(add_slot("dest", {5, rows}, dtype::float32, padding_policy::any_valid)),
      rows_(rows),
      begin_(range.begin),
      end_(range.end) {}

void percentile5::do_run() {
  if (rows_ == 0) return;
  const nd_range range{{divide_up(rows_, tuning_.rows) * tuning_.size, tuning_.rows},
                       {tuning_.size, tuning_.rows}};
  const std::uint64_t stride = src_->buffer().layout().padded()[1];
  const std::uint64_t dest_stride = dest_->buffer().layout().padded()[1];
  enqueue(kernel_, range, dest_, src_, rows_, begin_, end_, stride, dest_stride);
}

std::vector<named_value> percentile5::do_parameters() const {
  return parameter_list()
      .add("type", src_->type())
      .add("shape", src_->required_layout().size())
      .add("begin", begin_)
      .add("end", end_)
      .add("tuning", tuning_);
}

percentile5_template::percentile5_template(const context& context, std::size_t max_columns,
                                           bool is_amplitude,
                                           const std::optional<percentile5_tuning>& tuning)
    : key_(ranked_key(max_columns, is_amplitude)),
      tuning_(tuning ? *tuning : autotune(context, key_)),
      program_(build(context, key_, tuning_)) {}

percentile5 percentile5_template::instantiate(const command_queue& queue, std::size_t rows,
                                              std::size_t columns,
                                              const column_range& range) const {
  check_ranked(range, columns);
  return {queue, program_, tuning_, key_, rows, columns, range};
}

space<percentile5_tuning> tuning_space(const percentile5_key& key) {
  using t = percentile5_tuning;
  space<t> space;
  space.add(&t::size, {32, 64, 128, 256, 512, 1024});
  space.add(&t::rows, {1, 2, 4, 8});
  space.add(&t::vector,
            key.is_amplitude ? std::vector<std::size_t>{1, 4} : std::vector<std::size_t>{1, 2});
  space.add(&t::bins, {256, 512, 1024, 2048, 4096});
  space.add(&t::pass_bits, {0, 1, 2});
  space.add(&t::keeps, {true, false});
  space.add(&t::sampled, {false, true});
  space.restrict([](const t& c) { return c.size * c.rows >= 64 && c.size * c.rows <= 1024; },
                 "work groups of 64 to 1024", &t::size, &t::rows);
  space.restrict([](const t& c) { return c.pass_bits == 0 || c.bins == 256; },
                 "bins only for histograms", &t::bins, &t::pass_bits);
  // The test default is valid for every key.
  space.restrict(
      [key](const t& c) {
        return !c.keeps || kept_items(key, c) > 0 || (c.size == 64 && c.rows == 4);
      },
      "64 values of an item in registers at most", &t::size, &t::rows, &t::vector, &t::keeps);
  space.restrict([](const t& c) { return c.keeps || c.pass_bits == 0; },
                 "few passes over what is read again", &t::pass_bits, &t::keeps);
  space.restrict(
      [key](const t& c) {
        return !c.sampled || (c.pass_bits == 0 && c.bins <= 512 && kept_items(key, c) > 0);
      },
      "samples for small histograms of values in registers", &t::size, &t::vector, &t::bins,
      &t::pass_bits, &t::keeps, &t::sampled);
  space.needs([](const t& c) {
    return resources{.work_group = {c.size, c.rows, 1},
                     .local_memory_bytes = local_memory_bytes(c)};
  });
  return space;
}

const autotuner<percentile5_key, percentile5_tuning> percentile5_template::autotune{
    {.name = "operations.percentile5_template.autotune", .version = 1, .test = {}},
    [](tuning_session& session, const percentile5_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const std::size_t columns = key.max_columns;
      const element_type type = ranked_type(key);
      const std::size_t bytes = computed_workload_bytes(session);
      const std::size_t rows = divide_up(bytes, columns * type.bytes());
      const device_array src(context, {type, {rows, columns}});
      set_numbers(queue, src);
      const workload work(queue);
      const ranked_rows odd(queue, key, 13, columns + 5, {3, columns + 2});
      const ranked_rows even(queue, key, 6, round_up(columns, 4), {0, columns});
      const ranked_rows wide(queue, key, 6, 2 * columns + 5000, {4, 2 * columns + 4999});
      const declared_work ranked{.bytes =
                                     bytes_of(src) + static_cast<double>(5 * rows * sizeof(float))};
      return session.tune(tuning_space(key), [&](const percentile5_tuning& tuning) {
        const program built = build(context, key, tuning);
        percentile5 op(queue, built, tuning, key, rows, columns, {0, columns});
        op.bind("src", src);
        return make_checked_measure(queue, std::move(op), work, built, tuning, odd, even, wide)
            .work(ranked);
      });
    }};

namespace {
const remaker<percentile5> remake_percentile5{
    [](const command_queue& queue, const remade_parameters& from) {
      const shape size = from.extents("shape");
      const column_range range{from.get<std::uint64_t>("begin"), from.get<std::uint64_t>("end")};
      return percentile5_template(queue.context(), range.end - range.begin,
                                  from.type("type") == dtype::float32,
                                  from.get<percentile5_tuning>("tuning"))
          .instantiate(queue, size[0], size[1], range);
    }};

const tuned_by<percentile5> percentile5_is_tuned{
    percentile5_template::autotune, [](const remade_parameters& from) {
      return ranked_key(from.get<std::uint64_t>("end") - from.get<std::uint64_t>("begin"),
                        from.type("type") == dtype::float32);
    }};
}  // namespace

}  // namespace tune::operations
