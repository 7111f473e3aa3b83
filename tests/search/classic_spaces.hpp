// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "libtune/extra/bare/expression.hpp"
#include "libtune/search/space/space.hpp"

/// Two spaces of the literature, with parameters, restrictions and counts as published with CLTune
/// (Nugteren and Codreanu, 2015): a 2D convolution with a 7 x 7 filter, and a matrix multiplication
/// in single precision, for a device with 48 KiB of local memory and 1024 work items in a group.
namespace tune::testing {

struct convolution_tuning {
  int tbx = 8;
  int tby = 8;
  int staging = 0;  // 0: not used, 1: used, 2: used with extra work items for the halo
  int wptx = 1;
  int wpty = 1;
  int vector = 1;
  int unroll = 1;
  int padding = 0;
  int tbx_xl = 8;
  int tby_xl = 8;
};

struct gemm_tuning {
  int mwg = 16;
  int nwg = 16;
  int kwg = 16;
  int mdimc = 8;
  int ndimc = 8;
  int mdima = 8;
  int ndimb = 8;
  int kwi = 2;
  int vwm = 1;
  int vwn = 1;
  int strm = 0;
  int strn = 0;
  int sa = 0;
  int sb = 0;
};

}  // namespace tune::testing

LIBTUNE_FIELDS(tune::testing::convolution_tuning, tbx, tby, staging, wptx, wpty, vector, unroll,
               padding, tbx_xl, tby_xl)
LIBTUNE_FIELDS(tune::testing::gemm_tuning, mwg, nwg, kwg, mdimc, ndimc, mdima, ndimb, kwi, vwm, vwn,
               strm, strn, sa, sb)

namespace tune::testing {

inline constexpr int local_memory_bytes = 48 * 1024;
inline constexpr int most_work_items = 1024;

// The restrictions are plain functions, so that a test can ask them too.

namespace convolution {

using t = convolution_tuning;

inline constexpr int halo = 3;  // half the filter

inline int halo_items(int per_item) { return (2 * halo + per_item - 1) / per_item; }
inline bool width_fits(const t& c) {
  return c.tbx_xl == c.tbx + (c.staging == 2 ? halo_items(c.wptx) : 0);
}
inline bool height_fits(const t& c) {
  return c.tby_xl == c.tby + (c.staging == 2 ? halo_items(c.wpty) : 0);
}
inline bool vectors_fit(const t& c) {
  return c.wptx % c.vector == 0 && (c.staging != 2 || 2 * halo % c.vector == 0);
}
inline bool padding_is_used(const t& c) { return c.padding == 0 || c.staging != 0; }
inline bool tile_fits(const t& c) {
  const int floats = (c.tby * c.wpty + 2 * halo) * (c.tbx * c.wptx + 2 * halo + c.padding);
  return c.staging == 0 || floats * 4 <= local_memory_bytes;
}
inline bool group_fits(const t& c) { return c.tbx_xl * c.tby_xl <= most_work_items; }
inline bool allows(const t& c) {
  return width_fits(c) && height_fits(c) && vectors_fit(c) && padding_is_used(c) && tile_fits(c) &&
         group_fits(c);
}

inline std::vector<int> extended_sizes() {
  std::vector<int> sizes;
  for (int size = 8; size <= 74; ++size) {
    if (size <= 26 || (size >= 32 && size <= 42) || size >= 64) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace convolution

/// 15,492,096 combinations, of which 3,424 will be allowed, still unrestricted.
inline tune::space<convolution_tuning> convolution_parameters() {
  using t = convolution_tuning;
  tune::space<t> space;
  space.add(&t::tbx, {8, 16, 32, 64}).add(&t::tby, {8, 16, 32, 64}).add(&t::staging, {0, 1, 2});
  space.add(&t::wptx, {1, 2, 4, 8}).add(&t::wpty, {1, 2, 4, 8}).add(&t::vector, {1, 2, 4});
  space.add(&t::unroll, {1, 2 * convolution::halo + 1}).add(&t::padding, {0, 1});
  space.add(&t::tbx_xl, convolution::extended_sizes());
  space.add(&t::tby_xl, convolution::extended_sizes());
  return space;
}

inline tune::space<convolution_tuning> convolution_space() {
  using t = convolution_tuning;
  namespace c = convolution;
  auto space = convolution_parameters();
  space.restrict(c::width_fits, "width fits", &t::staging, &t::tbx_xl, &t::tbx, &t::wptx);
  space.restrict(c::height_fits, "height fits", &t::staging, &t::tby_xl, &t::tby, &t::wpty);
  space.restrict(c::vectors_fit, "vectors fit", &t::staging, &t::vector, &t::wptx);
  space.restrict(c::padding_is_used, "padding is used", &t::staging, &t::padding);
  space.restrict(c::tile_fits, "tile fits", &t::staging, &t::tbx, &t::wptx, &t::tby, &t::wpty,
                 &t::padding);
  space.restrict(c::group_fits, "group fits", &t::tbx_xl, &t::tby_xl);
  return space;
}

namespace gemm {

using t = gemm_tuning;

inline bool depth_is_whole(const t& g) { return g.kwg % g.kwi == 0; }
inline bool rows_are_whole(const t& g) { return g.mwg % (g.mdimc * g.vwm) == 0; }
inline bool columns_are_whole(const t& g) { return g.nwg % (g.ndimc * g.vwn) == 0; }
inline bool loads_of_a_are_whole(const t& g) { return g.mwg % (g.mdima * g.vwm) == 0; }
inline bool loads_of_b_are_whole(const t& g) { return g.nwg % (g.ndimb * g.vwn) == 0; }
inline bool a_is_shared_out(const t& g) { return g.kwg % (g.mdimc * g.ndimc / g.mdima) == 0; }
inline bool b_is_shared_out(const t& g) { return g.kwg % (g.mdimc * g.ndimc / g.ndimb) == 0; }
inline bool tiles_fit(const t& g) {
  return (g.sa * g.kwg * g.mwg + g.sb * g.kwg * g.nwg) * 4 <= local_memory_bytes;
}
inline bool group_fits(const t& g) { return g.mdimc * g.ndimc <= most_work_items; }
inline bool allows(const t& g) {
  return depth_is_whole(g) && rows_are_whole(g) && columns_are_whole(g) &&
         loads_of_a_are_whole(g) && loads_of_b_are_whole(g) && a_is_shared_out(g) &&
         b_is_shared_out(g) && tiles_fit(g) && group_fits(g);
}

}  // namespace gemm

/// 1,327,104 combinations, of which 241,600 will be allowed, still unrestricted.
inline tune::space<gemm_tuning> gemm_parameters() {
  using t = gemm_tuning;
  tune::space<t> space;
  space.add(&t::mwg, {16, 32, 64, 128}).add(&t::nwg, {16, 32, 64, 128}).add(&t::kwg, {16, 32});
  space.add(&t::mdimc, {8, 16, 32}).add(&t::ndimc, {8, 16, 32});
  space.add(&t::mdima, {8, 16, 32}).add(&t::ndimb, {8, 16, 32});
  space.add(&t::kwi, {2, 8}).add(&t::vwm, {1, 2, 4, 8}).add(&t::vwn, {1, 2, 4, 8});
  space.add(&t::strm, {0, 1}).add(&t::strn, {0, 1}).add(&t::sa, {0, 1}).add(&t::sb, {0, 1});
  return space;
}

inline tune::space<gemm_tuning> gemm_space() {
  using t = gemm_tuning;
  auto space = gemm_parameters();
  space.restrict(gemm::depth_is_whole, "depth is whole", &t::kwg, &t::kwi);
  space.restrict(gemm::rows_are_whole, "rows are whole", &t::mwg, &t::mdimc, &t::vwm);
  space.restrict(gemm::columns_are_whole, "columns are whole", &t::nwg, &t::ndimc, &t::vwn);
  space.restrict(gemm::loads_of_a_are_whole, "loads of A are whole", &t::mwg, &t::mdima, &t::vwm);
  space.restrict(gemm::loads_of_b_are_whole, "loads of B are whole", &t::nwg, &t::ndimb, &t::vwn);
  space.restrict(gemm::a_is_shared_out, "A is shared out", &t::kwg, &t::mdimc, &t::ndimc,
                 &t::mdima);
  space.restrict(gemm::b_is_shared_out, "B is shared out", &t::kwg, &t::mdimc, &t::ndimc,
                 &t::ndimb);
  space.restrict(gemm::tiles_fit, "tiles fit", &t::sa, &t::sb, &t::kwg, &t::mwg, &t::nwg);
  space.restrict(gemm::group_fits, "group fits", &t::mdimc, &t::ndimc);
  return space;
}

// The same spaces with their restrictions as texts, as a bare kernel has them.

template <class Texts>
search_space with_texts(std::vector<parameter> parameters, const Texts& texts) {
  std::vector<restriction> restrictions;
  for (const char* text : texts) {
    for (auto& part : expression(text).restrictions(parameters)) {
      restrictions.push_back(std::move(part));
    }
  }
  return search_space(std::move(parameters), std::move(restrictions));
}

inline constexpr std::array convolution_texts{
    "tbx_xl == tbx + (staging == 2) * ((6 + wptx - 1) // wptx)",
    "tby_xl == tby + (staging == 2) * ((6 + wpty - 1) // wpty)",
    "wptx % vector == 0 and (staging != 2 or 6 % vector == 0)",
    "padding == 0 or staging != 0",
    "staging == 0 or (tby*wpty + 6) * (tbx*wptx + 6 + padding) * 4 <= 48 * 1024",
    "tbx_xl * tby_xl <= 1024"};

inline search_space convolution_text_space() {
  return with_texts(convolution_parameters().core().parameters(), convolution_texts);
}

inline search_space gemm_text_space() {
  return with_texts(
      gemm_parameters().core().parameters(),
      std::array{"kwg % kwi == 0", "mwg % (mdimc * vwm) == 0", "nwg % (ndimc * vwn) == 0",
                 "mwg % (mdima * vwm) == 0", "nwg % (ndimb * vwn) == 0",
                 "kwg % (mdimc * ndimc // mdima) == 0", "kwg % (mdimc * ndimc // ndimb) == 0",
                 "(sa * kwg * mwg + sb * kwg * nwg) * 4 <= 48 * 1024", "mdimc * ndimc <= 1024"});
}

}  // namespace tune::testing
