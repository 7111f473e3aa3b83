// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels that use the library of kernel texts, for tests on devices and for tests that only
// compile.
#pragma once

#include <string>

#include "libtune/kernel/kernel_source.hpp"

namespace library_kernels {

/// The shapes of work groups that kernels here are launched with.
constexpr int reduction_sizes[] = {1, 4, 12, 16, 32, 87, 97, 160, 256};
constexpr int reduction_items = 256;  ///< reduction_items / size sets in a group

inline std::string replaced(std::string text, const std::string& word, const std::string& by) {
  for (std::size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
  return text;
}

/// Kernels reduce_<size>(out, in): out[variant * 256 + item], where the bits of the variant are
/// shuffle, broadcast and maximum, from the lowest on.
inline tune::kernel_source reductions() {
  std::string text = "#include \"libtune/work_group_reduce.kernel\"\n";
  for (const int size : reduction_sizes) {
    std::string calls;
    for (int variant = 0; variant < 8; ++variant) {
      const std::string name = "r" + std::to_string(variant) + "_@";
      text += "WORK_GROUP_REDUCE_WITH(" + name + ", int, @, " + ((variant & 2) ? "1, " : "0, ") +
              ((variant & 1) ? "1, " : "0, ") + ((variant & 4) ? "a > b ? a : b" : "a + b") + ")\n";
      calls += "  LOCAL_DECL " + name + "_scratch s" + std::to_string(variant) + "[256 / @];\n";
      calls += "  out[" + std::to_string(256 * variant) + " + i] = " + name + "_once(in[i], x, &s" +
               std::to_string(variant) + "[y]);\n";
    }
    text += R"(
KERNEL REQD_WORK_GROUP_SIZE(@, 256 / @, 1)
void reduce_@(GLOBAL int* RESTRICT out, GLOBAL const int* RESTRICT in) {
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint i = y * @ + x;
)" + calls + "}\n";
    text = replaced(std::move(text), "@", std::to_string(size));
  }
  return {"reductions.kernel", text};
}

/// Kernels types_<size>(out, in), of 192 items: out[column * 192 + item].
constexpr int type_sizes[] = {12, 16, 64};
constexpr int type_items = 192;
constexpr int type_columns = 7;
inline tune::kernel_source types() {
  std::string text = R"(#include "libtune/work_group_reduce.kernel"
typedef struct { int weight; short place; } best;
typedef struct { uchar x; uchar y; uchar z; } triple;
DEVICE_FN best better(best a, best b) {
  return a.weight > b.weight || (a.weight == b.weight && a.place < b.place) ? a : b;
}
DEVICE_FN triple larger(triple a, triple b) {
  triple c;
  c.x = a.x > b.x ? a.x : b.x;
  c.y = a.y > b.y ? a.y : b.y;
  c.z = a.z > b.z ? a.z : b.z;
  return c;
}
)";
  for (const int size : type_sizes) {
    text += replaced(R"(
WORK_GROUP_REDUCE(pair_@, float2, @, make_float2(a.x + b.x, a.y + b.y))
WORK_GROUP_REDUCE(long_@, long, @, a > b ? a : b)
WORK_GROUP_REDUCE(double_@, double, @, a + b)
WORK_GROUP_REDUCE(best_@, best, @, better(a, b))
WORK_GROUP_REDUCE(triple_@, triple, @, larger(a, b))
KERNEL REQD_WORK_GROUP_SIZE(@, 192 / @, 1)
void types_@(GLOBAL long* RESTRICT out, GLOBAL const int* RESTRICT in) {
  LOCAL_DECL pair_@_scratch pairs[192 / @];
  LOCAL_DECL long_@_scratch longs[192 / @];
  LOCAL_DECL double_@_scratch doubles[192 / @];
  LOCAL_DECL best_@_scratch bests[192 / @];
  LOCAL_DECL triple_@_scratch triples[192 / @];
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint i = y * @ + x;
  const int v = in[i];
  const float2 pair = pair_@(make_float2(v, -2 * v), x, &pairs[y]);
  best mine;
  mine.weight = v / 100;
  mine.place = (short)x;
  mine = best_@(mine, x, &bests[y]);
  triple three;
  three.x = (uchar)(v % 256);
  three.y = (uchar)(v / 4);
  three.z = (uchar)(255 - v % 256);
  three = triple_@(three, x, &triples[y]);
  out[i] = (long)pair.x;
  out[192 + i] = (long)pair.y;
  out[2 * 192 + i] = long_@(((long)v << 33) - v, x, &longs[y]);
  out[3 * 192 + i] = (long)(4 * double_@(v + 0.25, x, &doubles[y]));
  out[4 * 192 + i] = mine.weight;
  out[5 * 192 + i] = mine.place;
  out[6 * 192 + i] = three.x + 256 * three.y + 65536 * three.z;
}
)",
                     "@", std::to_string(size));
  }
  return {"types.kernel", text};
}

/// repeat_<size>(out, rounds): item i of the set holds i + round in each round, of which there
/// are two or more; what it is told is added up. Macros have names that the library's text might
/// use.
constexpr int repeat_sizes[] = {12, 64, 87, 384, 512};
inline tune::kernel_source repeats() {
  std::string text = R"(#include "libtune/work_group_reduce.kernel"
#define size broken
#define type broken
#define value broken
#define values broken
#define index broken
#define count broken
#define step broken
#define width broken
#define word broken
#define mask broken
#define scratch broken
#define broadcast broken
#define shuffle broken
)";
  for (const int size : repeat_sizes) {
    text += replaced(R"(
WORK_GROUP_REDUCE(sum_@, uint, @, a + b)
KERNEL REQD_WORK_GROUP_SIZE(@, 1, 1) void repeat_@(GLOBAL uint* RESTRICT out, uint rounds) {
  LOCAL_DECL sum_@_scratch place;
  const uint i = get_local_id(0);
  uint total = sum_@_once(i, i, &place);
  total += sum_@(i + 1, i, &place);
  for (uint n = 2; n < rounds; ++n) total += sum_@(i + n, i, &place);
  out[i] = total;
}
)",
                     "@", std::to_string(size));
  }
  return {"repeats.kernel", text};
}

/// flip_<bytes>(out, in, rows, columns, in_stride, out_stride), for elements of that many bytes;
/// scale is the same from short to float, with a gain of 0.5.
struct flip_shape {
  const char* type;
  int bytes, block, vtx, vty;
};
constexpr flip_shape flips[] = {
    {"uchar", 1, 8, 1, 2}, {"ushort", 2, 16, 2, 1}, {"float", 4, 8, 2, 3},
    {"ulong", 8, 4, 4, 4}, {"uint4", 16, 8, 1, 1},
};
constexpr flip_shape scaling{"float", 4, 8, 2, 2};
inline std::string flip_text(const flip_shape& shape, const std::string& name,
                             const std::string& in_type, const std::string& gain,
                             const std::string& index) {
  std::string text = R"(
TRANSPOSE_TILE($, @type, @index, @block, @vtx, @vty)
#define $_load(row, column) (in[(size_t)(row) * in_stride + (column)]@gain)
#define $_store(row, column, value) out[(size_t)(row) * out_stride + (column)] = value
KERNEL REQD_WORK_GROUP_SIZE(@block, @block, 1)
void $(GLOBAL @type* RESTRICT out, GLOBAL const @in* RESTRICT in, uint rows, uint columns,
       uint in_stride, uint out_stride) {
  LOCAL_DECL $_tile tile;
  const uint tile_column = get_group_id(0);
  const uint tile_row = diagonal_tile_row(get_group_id(1), tile_column, get_num_groups(1));
  TRANSPOSE_TILE_MOVE($, tile, rows, columns, tile_row, tile_column, $_load, $_store);
}
)";
  text = replaced(std::move(text), "$", name);
  text = replaced(std::move(text), "@type", shape.type);
  text = replaced(std::move(text), "@index", index);
  text = replaced(std::move(text), "@in", in_type);
  text = replaced(std::move(text), "@gain", gain);
  text = replaced(std::move(text), "@block", std::to_string(shape.block));
  text = replaced(std::move(text), "@vtx", std::to_string(shape.vtx));
  return replaced(std::move(text), "@vty", std::to_string(shape.vty));
}
inline tune::kernel_source transposes() {
  std::string text = "#include \"libtune/transpose_tile.kernel\"\n";
  for (const flip_shape& shape : flips) {
    text += flip_text(shape, "flip_" + std::to_string(shape.bytes), shape.type, "", "uint");
  }
  text += flip_text(scaling, "scale", "short", " * 0.5f", "ulong");
  return {"transposes.kernel", text};
}

/// far(out, tile_row, rows): one group moves a tile of 8 x 8 of which it makes up the elements;
/// out[8 * row + column - 8 * tile_row] = row and column of what it came from, in the last digits.
/// two(out, in): two tiles of 8 x 8 at a time, twice, through the same local memory.
inline tune::kernel_source tiles() {
  return {"tiles.kernel", R"(#include "libtune/transpose_tile.kernel"
TRANSPOSE_TILE(far_away, uint, ulong, 8, 1, 1)
#define far_load(row, column) ((uint)((row) % 1000) * 10 + (uint)(column))
#define far_store(row, column, value) out[8 * (row) + (column) - 8 * tile_row] = value
KERNEL REQD_WORK_GROUP_SIZE(8, 8, 1) void far(GLOBAL uint* out, ulong tile_row, ulong rows) {
  LOCAL_DECL far_away_tile tile;
  TRANSPOSE_TILE_MOVE(far_away, tile, rows, 5, tile_row, 0, far_load, far_store);
}

TRANSPOSE_TILE(both, int, int, 8, 1, 1)
#define first_load(row, column) in[8 * (row) + (column) + 128 * n]
#define second_load(row, column) in[8 * (row) + (column) + 128 * n + 64]
#define first_store(row, column, value) out[8 * (row) + (column) + 128 * n] = value
#define second_store(row, column, value) out[8 * (row) + (column) + 128 * n + 64] = value
KERNEL REQD_WORK_GROUP_SIZE(8, 8, 1) void two(GLOBAL int* out, GLOBAL const int* in) {
  LOCAL_DECL both_tile first;
  LOCAL_DECL both_tile second;
  for (int n = 0; n < 2; ++n) {
    if (n > 0) BARRIER();
    TRANSPOSE_TILE_LOAD(both, first, 8, 8, 0, 0, first_load);
    TRANSPOSE_TILE_LOAD(both, second, 8, 8, 0, 0, second_load);
    BARRIER();
    TRANSPOSE_TILE_STORE(both, first, 8, 8, 0, 0, first_store);
    TRANSPOSE_TILE_STORE(both, second, 8, 8, 0, 0, second_store);
  }
}
)"};
}

/// Storage types: each kernel loads or stores one element an item.
inline tune::kernel_source storage() {
  return {"storage.kernel", R"(
KERNEL void load_half(GLOBAL float* out, GLOBAL const half* in) {
  out[get_global_id(0)] = vload_half(get_global_id(0), in);
}
KERNEL void store_half(GLOBAL half* out, GLOBAL const float* in) {
  vstore_half(in[get_global_id(0)], get_global_id(0), out);
}
KERNEL void load_bfloat16(GLOBAL float* out, GLOBAL const bfloat16* in) {
  out[get_global_id(0)] = vload_bfloat16(get_global_id(0), in);
}
KERNEL void store_bfloat16(GLOBAL bfloat16* out, GLOBAL const float* in) {
  vstore_bfloat16(in[get_global_id(0)], get_global_id(0), out);
}
KERNEL REQD_WORK_GROUP_SIZE(64, 1, 1)
void reverse_bfloat16(GLOBAL bfloat16* data) {
  LOCAL_DECL bfloat16 tile[64];
  const uint i = get_local_id(0);
  tile[i] = data[i];
  BARRIER();
  bfloat16 own[1];
  vstore_bfloat16(vload_bfloat16(63 - i, tile), 0, own);
  data[i] = own[0];
}
KERNEL void reinterpret(GLOBAL uint* words, GLOBAL ulong* longs) {
  words[0] = as_uint(as_float(words[0]) * 2.0f) + as_uint(as_int(-1.0f));
  longs[0] = as_ulong(as_double(longs[0]) * 2.0) + as_ulong(as_long(1.0));
}
)"};
}

/// vectors_<type>(out, in): a and b are the first and the second eight of in; out holds the results
/// for vectors of 2, 3, 4 and 8 of their first elements, one after the other.
constexpr const char* vector_types[] = {"char", "uchar", "short", "ushort", "int",
                                        "uint", "long",  "ulong", "float",  "double"};
constexpr int vector_widths[] = {2, 3, 4, 8};
constexpr int vector_results = 2 + 3 + 4 + 8;
inline std::string vector_calculation(const std::string& type, int width) {
  const std::string v = "@" + std::to_string(width);
  const auto made = [&](int first) {
    std::string text = "make_" + v + "(";
    for (int i = 0; i < width; ++i) {
      text += (i == 0 ? "in[" : ", in[") + std::to_string(first + i) + "]";
    }
    return text + ")";
  };
  std::string text = "{ const " + v + " a = " + made(0) + ", b = " + made(8) + ";\n" + v +
                     " r = (@)3 * ((a + b) * (@)2 - b / a) - (@)1;\n"
                     "r += a; r -= (@)1; r *= b; r /= (@)2; r = -r;\n";
  if (type != "float" && type != "double") {
    text += "r ^= (a % b | ~b & (@)6) << (@)2; r = r >> (@)1; r |= (@)1; r %= (@)100;\n";
  }
  if (width == 8) {
    text +=
        "const @4 halves[2] = {r.lo, r.hi};\nUNROLL for (int h = 0; h < 2; ++h) {\n"
        "out[0] = halves[h].x; out[1] = halves[h].y; out[2] = halves[h].z; out[3] = halves[h].w;\n"
        "out += 4; }\n";
  } else {
    for (int i = 0; i < width; ++i) {
      text += "out[" + std::to_string(i) + "] = r." + "xyzw"[i] + ";\n";
    }
    text += "out += " + std::to_string(width) + ";\n";
  }
  return text + "}\n";
}
inline tune::kernel_source vectors() {
  std::string text;
  for (const std::string type : vector_types) {
    std::string body = "KERNEL void vectors_@(GLOBAL @* out, GLOBAL const @* in) {\n";
    for (const int width : vector_widths) body += vector_calculation(type, width);
    text += replaced(body + "}\n", "@", type);
  }
  return {"vectors.kernel", text};
}

/// calculations(out, one), of one item; counts(ints, uints, floats), of groups of 64;
/// neighbours(out, scratch), of groups of 64.
inline tune::kernel_source words() {
  return {"words.kernel", R"(
#define unroll broken
#define items broken
#define lo broken
#define width broken
#define element broken
#define shape broken
CONSTANT_DECL float weights[4] = {1, 2, 3, 4};
CONSTANT_DECL uint table[2][2] = {{5, 6}, {7, 8}};
DEVICE_FN float weight_of(CONSTANT float* from, int i) { return from[i]; }

KERNEL void calculations(GLOBAL double* out, float one) {
  float sum = 0;
  UNROLL_BY(2) for (int i = 0; i < 4; ++i) sum += weight_of(weights, i) * (i + 1);
  UNROLL_BY(words_rounds) for (int i = 0; i < words_rounds; ++i) sum += table[i & 1][1];
  out[0] = sum;
  const float near = one + 0.000244140625f;
  out[1] = FMA(near, near, -(one + 0.00048828125f));
  const double exact = one + 0.0000000037252902984619140625;
  out[2] = FMA(exact, exact, -(one + 0.000000007450580596923828125));
  out[3] = RSQRT(4 * one);
  out[4] = RSQRT((double)one / 16);
  const float4 four = FMA(make_float4(1, 2, 3, 4), make_float4(2, 2, 2, 2), make_float4(1, 1, 1, one));
  out[5] = four.x + 10 * four.y + 100 * four.z + 1000 * four.w;
  const float2 roots = RSQRT(make_float2(one, 16 * one));
  out[6] = roots.x + roots.y;
}

KERNEL REQD_WORK_GROUP_SIZE(64, 1, 1)
void counts(GLOBAL int* ints, GLOBAL uint* uints, GLOBAL float* floats) {
  LOCAL_DECL int local_int;
  LOCAL_DECL uint local_uint;
  LOCAL_DECL float local_float;
  const int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) {
    local_int = 0;
    local_uint = 0;
    local_float = 0;
  }
  BARRIER_LOCAL();
  ATOMIC_ADD(&local_int, -i);
  ATOMIC_ADD(&local_uint, 1);
  ATOMIC_ADD(&local_float, 0.5f);
  ATOMIC_ADD(&ints[0], i);
  ATOMIC_SUB(&ints[1], i);
  ATOMIC_MIN(&ints[2], 7 - i);
  ATOMIC_MAX(&ints[3], i - 7);
  ATOMIC_ADD(&uints[0], i);
  ATOMIC_SUB(&uints[1], 1);
  ATOMIC_MIN(&uints[2], (uint)(i + 3));
  ATOMIC_MAX(&uints[3], (uint)i);
  ATOMIC_AND(&uints[4], ~(1u << (i & 15)));
  ATOMIC_OR(&uints[5], 1u << (i & 15));
  ATOMIC_XOR(&uints[6], (uint)i);
  ATOMIC_ADD(&floats[0], 0.25f);
  if (ATOMIC_CAS(&uints[7], 0, (uint)(i + 1)) == 0) ATOMIC_ADD(&uints[8], 1);
  const int before = ATOMIC_XCHG(&ints[4], i);
  if (before >= 0) ATOMIC_ADD(&ints[5], before);
  const float taken = ATOMIC_XCHG(&floats[1], 1.0f);
  ATOMIC_ADD(&floats[2], taken);
  BARRIER_LOCAL();
  if (get_local_id(0) == 0) {
    ATOMIC_ADD(&ints[6], local_int);
    ATOMIC_ADD(&uints[9], local_uint);
    ATOMIC_ADD(&floats[3], local_float);
  }
}

KERNEL REQD_WORK_GROUP_SIZE(64, 1, 1)
void neighbours(GLOBAL int* out, GLOBAL int* scratch) {
  LOCAL_DECL int own[64];
  const int i = (int)get_global_id(0);
  const int j = (int)get_local_id(0);
  scratch[i] = 2 * i;
  own[j] = i;
  BARRIER_GLOBAL();
  out[i] = scratch[i - j + 63 - j] + own[63 - j];
}
)"};
}

}  // namespace library_kernels
