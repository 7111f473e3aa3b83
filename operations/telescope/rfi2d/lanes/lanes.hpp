// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Sixteen baselines at once, in the vectors of the instructions for which the including source is
// compiled. Everything here has internal linkage, and uses no inline functions of the standard
// library. So sources that are compiled for different processors share none of this code.
#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define RFI2D_INLINE [[gnu::always_inline]] inline

namespace tune::operations {
namespace {

constexpr std::size_t lane_count = 16;

using lanes = float __attribute__((vector_size(64)));
using int_lanes = std::int32_t __attribute__((vector_size(64)));

/// One bit for each lane, such as the flags of one sample of sixteen baselines.
using lane_bits = std::uint16_t;
constexpr lane_bits all_lanes = 0xFFFF;

constexpr lanes zero_lanes{};
constexpr float infinity = __builtin_inff();
constexpr lanes infinite_lanes{infinity, infinity, infinity, infinity, infinity, infinity,
                               infinity, infinity, infinity, infinity, infinity, infinity,
                               infinity, infinity, infinity, infinity};

RFI2D_INLINE int_lanes bits_of(lanes x) { return reinterpret_cast<int_lanes>(x); }
RFI2D_INLINE lanes float_of(int_lanes x) { return reinterpret_cast<lanes>(x); }

RFI2D_INLINE lanes absolute(lanes x) { return float_of(bits_of(x) & 0x7FFFFFFF); }

/// -1 in the lanes whose bit is set, 0 in the others.
RFI2D_INLINE int_lanes expand(lane_bits bits) {
  constexpr int_lanes places{1,     2,     4,     8,     0x10,   0x20,   0x40,   0x80,
                             0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000, 0x8000};
  return ((int_lanes{} + bits) & places) != 0;
}

#if defined(__AVX512F__)
RFI2D_INLINE lanes select(lane_bits bits, lanes yes, lanes no) {
  return reinterpret_cast<lanes>(
      _mm512_mask_blend_ps(bits, reinterpret_cast<__m512>(no), reinterpret_cast<__m512>(yes)));
}
RFI2D_INLINE lane_bits greater(lanes a, lanes b) {
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_GT_OQ);
}
/// Adds 1 to the lanes of count whose x is below limit.
RFI2D_INLINE int_lanes count_less(int_lanes count, int_lanes x, int_lanes limit) {
  const auto wide = reinterpret_cast<__m512i>(count);
  const __mmask16 less =
      _mm512_cmplt_epi32_mask(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(limit));
  return reinterpret_cast<int_lanes>(
      _mm512_mask_sub_epi32(wide, less, wide, _mm512_set1_epi32(-1)));
}
RFI2D_INLINE bool any(int_lanes mask) {
  const auto wide = reinterpret_cast<__m512i>(mask);
  return _mm512_test_epi32_mask(wide, wide) != 0;
}
#else
RFI2D_INLINE lanes select(lane_bits bits, lanes yes, lanes no) {
  const int_lanes mask = expand(bits);
  return float_of((bits_of(yes) & mask) | (bits_of(no) & ~mask));
}
RFI2D_INLINE lane_bits pack(int_lanes mask) {
#if defined(__AVX__)
  __m256 parts[2];
  __builtin_memcpy(parts, &mask, sizeof mask);
  return static_cast<lane_bits>(_mm256_movemask_ps(parts[0]) | _mm256_movemask_ps(parts[1]) << 8);
#elif defined(__x86_64__)
  __m128 parts[4];
  __builtin_memcpy(parts, &mask, sizeof mask);
  return static_cast<lane_bits>(_mm_movemask_ps(parts[0]) | _mm_movemask_ps(parts[1]) << 4 |
                                _mm_movemask_ps(parts[2]) << 8 | _mm_movemask_ps(parts[3]) << 12);
#else
  unsigned bits = 0;
  for (std::size_t i = 0; i < lane_count; ++i) bits |= (mask[i] & 1U) << i;
  return static_cast<lane_bits>(bits);
#endif
}
RFI2D_INLINE lane_bits greater(lanes a, lanes b) { return pack(a > b); }
RFI2D_INLINE int_lanes count_less(int_lanes count, int_lanes x, int_lanes limit) {
  return count - (x < limit);
}
RFI2D_INLINE bool any(int_lanes mask) {
  std::int64_t words[8];
  __builtin_memcpy(words, &mask, sizeof mask);
  return (words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7]) !=
         0;
}
#endif

/// a * b + c, rounded once, as on the device.
RFI2D_INLINE lanes fused(lanes a, float b, lanes c) {
#if defined(__AVX512F__)
  return reinterpret_cast<lanes>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), _mm512_set1_ps(b), reinterpret_cast<__m512>(c)));
#elif defined(__FMA__)
  __m256 as[2], cs[2];
  __builtin_memcpy(as, &a, sizeof a);
  __builtin_memcpy(cs, &c, sizeof c);
  const __m256 bs = _mm256_set1_ps(b);
  for (int i = 0; i < 2; ++i) cs[i] = _mm256_fmadd_ps(as[i], bs, cs[i]);
  __builtin_memcpy(&c, cs, sizeof c);
  return c;
#else
  for (std::size_t i = 0; i < lane_count; ++i) c[i] = __builtin_fmaf(a[i], b, c[i]);
  return c;
#endif
}

RFI2D_INLINE lanes smaller(lanes a, lanes b) { return a < b ? a : b; }
RFI2D_INLINE lanes larger(lanes a, lanes b) { return a > b ? a : b; }

}  // namespace
}  // namespace tune::operations
