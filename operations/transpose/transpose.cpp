// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/transpose/transpose.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/storage_type.hpp"
#include "operations/workload.hpp"

#include "transpose.kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t largest_edge = 256;

// The type of a word, whose members are transposed.
std::string word_type(std::size_t element_bytes, std::size_t vector) {
  if (vector == 1) return "typedef element word;\n";
  constexpr std::array<const char*, 4> parts{"uchar", "ushort", "uint", "ulong"};
  return fmt::format("typedef {}{} word;\n",
                     parts.at(static_cast<std::size_t>(std::countr_zero(element_bytes))), vector);
}

// Kernel text has vectors of whole numbers only.
bool has_vectors(const transpose_key& key) {
  return std::has_single_bit(key.element_bytes) && key.element_bytes <= 8;
}

void check_tuning(const transpose_key& key, const transpose_tuning& t) {
  const bool has_word = t.vector == 1 || (has_vectors(key) && (t.vector == 2 || t.vector == 4));
  const bool has_tile = is_group(t.block_x, t.block_y) && t.tile > 0 && t.tile <= largest_edge &&
                        t.tile % t.block_x == 0 && t.tile % t.block_y == 0;
  require_possible(has_word && has_tile, "transpose", t,
                   "tile is a multiple of block_x and block_y, 256 at most; vector is 1, or 2 or 4 "
                   "of elements of 1, 2, 4 or 8 bytes");
}

program build(const context& context, const transpose_key& key, const transpose_tuning& tuning) {
  check_tuning(key, tuning);
  const std::string types =
      storage_type("element", key.element_bytes) + word_type(key.element_bytes, tuning.vector);
  return compile(context, {"transpose.kernel", types + std::string(embedded::transpose_kernel)},
                 defines(tuning));
}

/// Bytes that make all elements different.
std::vector<std::byte> distinct_elements(std::size_t count, std::size_t element_bytes) {
  std::vector<std::byte> bytes(count * element_bytes);
  std::uint32_t state = 1;
  for (std::byte& item : bytes) {
    state = state * 1664525U + 1013904223U;
    item = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

/// A known transposition, of whole and partial tiles of any size.
struct known_case {
  known_case(command_queue queue, const transpose_key& key, std::size_t its_rows,
             std::size_t its_columns)
      : rows(its_rows), columns(its_columns), work(queue) {
    const auto type = element_type::opaque(key.element_bytes);
    const std::vector<std::byte> given = distinct_elements(rows * columns, key.element_bytes);
    const device_array src(queue.context(), {type, {rows, columns}});
    queue.write(src.buffer(), given.data(), given.size());
    work.set("src", src);
    std::vector<std::byte> turned(given.size());
    for (std::size_t i = 0; i < rows * columns; ++i) {
      const std::size_t place = i % columns * rows + i / columns;
      std::memcpy(turned.data() + place * key.element_bytes, given.data() + i * key.element_bytes,
                  key.element_bytes);
    }
    const device_array dest(queue.context(), {type, {columns, rows}});
    queue.write(dest.buffer(), turned.data(), turned.size());
    expected.add("dest", queue, dest, tolerance::exact());
  }

  std::optional<std::string> find_misplaced(const program& built, const transpose_key& key,
                                            const transpose_tuning& tuning) const {
    transpose op(work.queue(), built, tuning, element_type::opaque(key.element_bytes), rows,
                 columns);
    auto wrong = find_fault(op, work, expected);
    if (wrong) wrong = fmt::format("of {} x {} elements: {}", rows, columns, *wrong);
    return wrong;
  }

  std::size_t rows;
  std::size_t columns;
  workload work;
  answer expected;
};

/// Finds the best tuning for arrays of one shape.
transpose_tuning tune_at(tuning_session& session, const transpose_key& key, std::size_t rows,
                         std::size_t columns) {
  const context& context = session.context();
  auto queue = context.create_tuning_command_queue();
  const auto type = element_type::opaque(key.element_bytes);
  const device_array src = allocate_rows(context, type, rows, columns);
  src.zero(queue);
  const workload work(queue);
  const on_demand<std::vector<known_case>> known([=] {
    std::vector<known_case> cases;
    cases.emplace_back(queue, key, 2 * largest_edge + 4, largest_edge + 8);
    cases.emplace_back(queue, key, largest_edge + 3, 2 * largest_edge + 1);
    // Number of elements that the host transposes at once.
    constexpr std::size_t few = std::size_t{1} << 16;
    if (rows * columns <= few) cases.emplace_back(queue, key, rows, columns);
    return cases;
  });
  const declared_work moved{.bytes = 2 * static_cast<double>(src.layout().bytes())};
  return session.tune(tuning_space(key), [&](const transpose_tuning& tuning) {
    const program built = build(context, key, tuning);
    transpose op(queue, built, tuning, type, rows, columns);
    op.bind("src", src);
    // The measured operation is checked for writes out of bounds only.
    return make_measure(queue, std::move(op), work, answer()).work(moved).check([=] {
      std::optional<std::string> wrong;
      for (const known_case& each : *known) {
        if (!wrong) wrong = each.find_misplaced(built, key, tuning);
      }
      return wrong;
    });
  });
}

std::size_t local_memory_bytes(const transpose_key& key, const transpose_tuning& t) {
  return t.vector * t.tile * (t.tile + 1) * t.vector * key.element_bytes;
}

/// Returns the bytes that one work item keeps in registers at once.
std::size_t private_bytes(const transpose_key& key, const transpose_tuning& t) {
  return (t.tile / t.block_x) * (t.tile / t.block_y) * t.vector * t.vector * key.element_bytes;
}

std::uint32_t tile_count(std::size_t extent, std::size_t edge) {
  return static_cast<std::uint32_t>(divide_up(extent, edge));
}

/// True if a launch can have as many groups as there are tiles.
bool can_launch(const transpose_tuning& tuning, std::size_t rows, std::size_t columns) {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  const std::size_t edge = tuning.tile * tuning.vector;
  const std::size_t down = divide_up(rows, edge);
  return down == 0 || divide_up(columns, edge) <= most / down;
}

}  // namespace

transpose::transpose(const command_queue& queue, const program& built,
                     const transpose_tuning& tuning, element_type type, std::size_t rows,
                     std::size_t columns)
    : operation(queue),
      kernel_(built.create_kernel("transpose")),
      tuning_(tuning),
      src_(add_slot("src", {rows, columns}, type, padding_policy::any_valid)),
      dest_(add_slot("dest", {columns, rows}, type, padding_policy::any_valid)),
      rows_(rows),
      columns_(columns),
      tiles_across_(tile_count(columns, tuning.tile * tuning.vector)),
      tiles_down_(tile_count(rows, tuning.tile * tuning.vector)) {
  const std::size_t edge = tuning.tile * tuning.vector;
  const std::size_t groups = divide_up(rows, edge) * divide_up(columns, edge);
  if (!can_launch(tuning, rows, columns)) {
    throw argument_error(
        fmt::format("{} x {} elements make {} tiles, more than a launch can have "
                    "work groups; transpose a part at a time",
                    rows, columns, groups));
  }
  range_ = {{groups * tuning.block_x, tuning.block_y}, {tuning.block_x, tuning.block_y}};
}

void transpose::do_run() {
  if (range_.global.x == 0) return;
  const std::uint64_t dest_stride = dest_->buffer().layout().padded()[1];
  const std::uint64_t src_stride = src_->buffer().layout().padded()[1];
  enqueue(kernel_, range_, dest_, src_, rows_, columns_, dest_stride, src_stride, tiles_down_,
          tiles_across_);
}

std::vector<named_value> transpose::do_parameters() const {
  return parameter_list()
      .add("type", src_->type())
      .add("shape", shape{rows_, columns_})
      .add("tuning", tuning_);
}

transpose_template::transpose_template(const context& context, element_type type,
                                       const std::optional<transpose_tuning>& tuning)
    : type_(type),
      tuning_(tuning ? *tuning : autotune(context, {type.bytes()})),
      program_(build(context, {type.bytes()}, tuning_)) {}

transpose transpose_template::instantiate(const command_queue& queue, std::size_t rows,
                                          std::size_t columns) const {
  return {queue, program_, tuning_, type_, rows, columns};
}

ranged_transpose_template::ranged_transpose_template(const context& context, element_type type,
                                                     const size_range& rows,
                                                     const size_range& columns)
    : type_(type), portfolio_(autotune.portfolio(context, {type.bytes(), rows, columns})) {
  for (const transpose_tuning& each : portfolio_.tunings()) {
    programs_.push_back(build(context, {type.bytes()}, each));
  }
}

transpose ranged_transpose_template::instantiate(const command_queue& queue, std::size_t rows,
                                                 std::size_t columns) const {
  const std::size_t chosen = portfolio_.choose({rows, columns});
  return {queue, programs_[chosen], portfolio_.tunings()[chosen], type_, rows, columns};
}

space<transpose_tuning> tuning_space(const transpose_key& key) {
  space<transpose_tuning> space;
  space.add(&transpose_tuning::block_x, {16, 32});
  space.add(&transpose_tuning::block_y, {8, 16, 32});
  space.add(&transpose_tuning::tile, {16, 32, 64});
  space.add(&transpose_tuning::vector,
            has_vectors(key) ? std::vector<std::size_t>{1, 2, 4} : std::vector<std::size_t>{1});
  space.add(&transpose_tuning::walk,
            {tile_walk::along_rows, tile_walk::along_columns, tile_walk::diagonal});
  space.restrict(
      [](const transpose_tuning& t) { return t.tile % t.block_x == 0 && t.tile % t.block_y == 0; },
      "whole steps over a tile", &transpose_tuning::tile, &transpose_tuning::block_x,
      &transpose_tuning::block_y);
  space.restrict(
      [key](const transpose_tuning& t) {
        return t.vector == 1 || t.vector * key.element_bytes <= 16;
      },
      "words of 16 bytes at most", &transpose_tuning::vector);
  space.restrict([key](const transpose_tuning& t) { return private_bytes(key, t) <= 256; },
                 "64 registers for the cells", &transpose_tuning::tile, &transpose_tuning::vector,
                 &transpose_tuning::block_x, &transpose_tuning::block_y);
  space.needs([key](const transpose_tuning& t) {
    return resources{.work_group = {t.block_x, t.block_y, 1},
                     .local_memory_bytes = local_memory_bytes(key, t)};
  });
  return space;
}

const autotuner<transpose_key, transpose_tuning> transpose_template::autotune{
    {.name = "operations.transpose_template.autotune", .version = 0, .test = {}},
    [](tuning_session& session, const transpose_key& key) {
      // A multiple of every edge, but no power of two.
      const std::size_t elements = workload_bytes(session) / key.element_bytes;
      const double side = std::sqrt(static_cast<double>(elements));
      const std::size_t size = round_up(static_cast<std::size_t>(side), 256) + 256;
      return tune_at(session, key, size, size);
    }};

const ranged_autotuner<ranged_transpose_key, transpose_tuning> ranged_transpose_template::autotune{
    {.name = "operations.ranged_transpose_template.autotune",
     .version = 0,
     .test = {},
     .features = {},
     .fits =
         [](const transpose_tuning& tuning, std::span<const std::uint64_t> sizes) {
           return can_launch(tuning, sizes[0], sizes[1]);
         },
     .limits = {},
     .goal = {}},
    [](tuning_session& session, const ranged_transpose_key& key,
       std::span<const std::uint64_t> sizes) {
      require_memory(session, 3 * key.element_bytes * sizes[0] * sizes[1]);
      return tune_at(session, {key.element_bytes}, sizes[0], sizes[1]);
    }};

namespace {
const remaker<transpose> remake_transpose{
    [](const command_queue& queue, const remade_parameters& from) {
      const shape size = from.extents("shape");
      return transpose_template(queue.context(), from.type("type"),
                                from.get<transpose_tuning>("tuning"))
          .instantiate(queue, size[0], size[1]);
    }};

const tuned_by<transpose> transpose_is_tuned{
    transpose_template::autotune, [](const remade_parameters& from) {
      return transpose_key{element_type(from.type("type")).bytes()};
    }};
}  // namespace

}  // namespace tune::operations
