// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/kernel/kernel_source.hpp"
#include "tests/kernel/library_kernels.hpp"

namespace library_kernels {

/// Of sets of `size` items in a group of `sets` rows: rank_<size>(out, in, count, ranks, wanted)
/// has the values of row y, in[count * y + i], in registers; column_<size>, the same, reads them
/// from memory, pass by pass. out[(wanted + 6) * y + i]: the values of the ranks of a row, then
/// count, min, max, median, median of non-zero, and how many are below in[count * y].
struct ranking_shape {
  int size, sets, items, bits;
  bool in_registers, in_memory;  // the kernels that there are; each takes long to compile
};
constexpr ranking_shape ranking_shapes[] = {
    {1, 2, 9, 4, true, true}, {12, 2, 7, 1, false, true}, {128, 1, 16, 2, true, false}};
inline std::string ranking_text(const ranking_shape& shape, const std::string& name,
                                const std::string& own, const std::string& values) {
  std::string text = R"(
KERNEL REQD_WORK_GROUP_SIZE(@size, @sets, 1)
void $_@size(GLOBAL float* RESTRICT out, GLOBAL const float* RESTRICT in, uint count,
             GLOBAL const uint* RESTRICT ranks, uint wanted) {
  LOCAL_DECL $_ranker_@size_scratch scratches[@sets];
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  LOCAL $_ranker_@size_scratch* const scratch = &scratches[y];
  GLOBAL const float* const from = in + (size_t)count * y;
  out += (wanted + 6) * y;
)" + own + R"(
  for (uint i = 0; i < wanted; ++i) {
    const float found = $_ranker_@size_find(@values, ranks[i], x, scratch);
    if (x == 0) out[i] = found;
  }
  const float total = $_ranker_@size_count(@values, x, scratch);
  const float least = $_ranker_@size_min(@values, x, scratch);
  const float most = $_ranker_@size_max(@values, x, scratch);
  const float median = $_ranker_@size_median(@values, x, scratch);
  const float nonzero = $_ranker_@size_median_nonzero(@values, x, scratch);
  const float below = $_ranker_@size_below(@values, from[0], x, scratch);
  if (x != @size - 1) return;
  out[wanted] = total;
  out[wanted + 1] = least;
  out[wanted + 2] = most;
  out[wanted + 3] = median;
  out[wanted + 4] = nonzero;
  out[wanted + 5] = below;
}
)";
  text = replaced(std::move(text), "$", name);
  text = replaced(std::move(text), "@size", std::to_string(shape.size));
  text = replaced(std::move(text), "@sets", std::to_string(shape.sets));
  text = replaced(std::move(text), "@items", std::to_string(shape.items));
  return replaced(std::move(text), "@values", values);
}
/// Those of the shapes with sets of `only` items, or all.
inline tune::kernel_source rankings(int only = 0) {
  std::string text = R"(#include "libtune/work_group_rank.kernel"
typedef struct { GLOBAL const float* from; uint begin, end, step; } strided;
#define EACH_STRIDED(of, visit) \
  for (uint i = (of).begin; i < (of).end; i += (of).step) visit((of).from[i])
)";
  for (const ranking_shape& shape : ranking_shapes) {
    if (only != 0 && shape.size != only) continue;
    const std::string size = std::to_string(shape.size);
    text += "WORK_GROUP_RANK(rank_ranker_" + size + ", " + size + ", " +
            std::to_string(shape.items) + ")\n";
    text += "WORK_GROUP_RANK_WITH(column_ranker_" + size + ", " + size + ", 0, " +
            std::to_string(shape.bits) + ", strided, EACH_STRIDED)\n";
    if (shape.in_registers) {
      text += ranking_text(shape, "rank", R"(
  rank_ranker_@size_values mine;
  UNROLL for (uint i = 0; i < @items; ++i) {
    mine[i] = i * @size + x < count ? from[i * @size + x] : NAN;
  })",
                           "&mine");
    }
    if (shape.in_memory) {
      text += ranking_text(shape, "column", R"(
  strided mine;
  mine.from = from;
  mine.begin = x;
  mine.end = count;
  mine.step = @size;)",
                           "mine");
    }
  }
  return {"rankings.kernel", text};
}

/// scan_<size>(out, in), of 192 / size sets in a group of rows: out[192 * column + item].
/// Columns: sums of integers, inclusive and exclusive; without shuffles; maps x -> ax + b as a
/// pair, which do not commute, inclusive and exclusive; then sums again with the same scratch.
constexpr int scan_sizes[] = {1, 4, 12, 64, 96};
constexpr int scan_items = 192;
constexpr int scan_columns = 7;
inline tune::kernel_source scans() {
  std::string text = R"(#include "libtune/work_group_scan.kernel"
typedef struct { uint factor; ushort offset; } map;
DEVICE_FN map map_of(uint factor, uint offset) {
  map made;
  made.factor = factor;
  made.offset = (ushort)offset;
  return made;
}
DEVICE_FN map after(map a, map b) {
  return map_of(a.factor * b.factor, a.offset * b.factor + b.offset);
}
)";
  for (const int size : scan_sizes) {
    text += replaced(R"(
WORK_GROUP_SCAN(sum_@, int, @, 0, a + b)
WORK_GROUP_SCAN_WITH(plain_@, long, @, 0, 0, a + b)
WORK_GROUP_SCAN(map_@, map, @, map_of(1, 0), after(a, b))
KERNEL REQD_WORK_GROUP_SIZE(@, 192 / @, 1)
void scan_@(GLOBAL int* RESTRICT out, GLOBAL const int* RESTRICT in) {
  LOCAL_DECL sum_@_scratch sums[192 / @];
  LOCAL_DECL plain_@_scratch plains[192 / @];
  LOCAL_DECL map_@_scratch maps[192 / @];
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint i = y * @ + x;
  out[i] = sum_@_inclusive_once(in[i], x, &sums[y]);
  out[192 + i] = sum_@_exclusive(in[i], x, &sums[y]);
  out[2 * 192 + i] = (int)plain_@_inclusive(in[i], x, &plains[y]);
  out[3 * 192 + i] = (int)plain_@_exclusive(in[i], x, &plains[y]);
  out[4 * 192 + i] = map_@_inclusive(map_of(2 * in[i] + 1, in[i]), x, &maps[y]).offset;
  out[5 * 192 + i] = map_@_exclusive(map_of(2 * in[i] + 1, in[i]), x, &maps[y]).offset;
  out[6 * 192 + i] = sum_@_inclusive(2 * in[i], x, &sums[y]);
}
)",
                     "@", std::to_string(size));
  }
  return {"scans.kernel", text};
}

}  // namespace library_kernels
