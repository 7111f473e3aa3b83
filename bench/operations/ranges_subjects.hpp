// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The operations of ranges_bench.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "bench/operations/ranges_contest.hpp"
#include "libtune/extra/ranged/size_range.hpp"
#include "operations/fft/fft.hpp"
#include "operations/gemm/gemm.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/transpose/transpose.hpp"

namespace bench {

/// An operation with an exact template and one for ranges.
template <class Tuning>
struct subject {
  std::string name;
  std::vector<tune::size_range> ranges;
  tune::space<Tuning> space;
  std::function<void()> search;                        // an ordinary search
  std::function<tune::portfolio<Tuning>()> portfolio;  // makes it
  /// Compiles a tuning; the returned function makes operations.
  std::function<maker(const Tuning&)> compile;
  std::function<void(tune::operation&, const tune::size_list&)> fill;  // binds and fills the inputs
  // For --check: the comparison with results of the test default.
  std::vector<std::string> inputs{};
  std::optional<Tuning> trusted{};  ///< empty: the last one of the portfolio
  tune::dtype result = tune::dtype::float32;
  double absolute = 1e-6;
  double relative = 1e-4;
};

// Each refers to the device. The ranges end at `largest`; 0: the usual end.
subject<tune::operations::hreduce_tuning> hreduce_subject(bench_device& on, std::uint64_t largest);
subject<tune::operations::transpose_tuning> transpose_subject(bench_device& on,
                                                              std::uint64_t largest);
subject<tune::operations::maskedsum_tuning> maskedsum_subject(bench_device& on,
                                                              std::uint64_t largest);
subject<tune::operations::pfb_tuning> pfb_subject(bench_device& on, std::uint64_t largest);
/// For matrices of floats, or of halves.
subject<tune::operations::gemm_tuning> gemm_subject(bench_device& on, std::uint64_t largest,
                                                    tune::dtype type);
subject<tune::operations::fft_tuning> fft_subject(bench_device& on, std::uint64_t largest);

}  // namespace bench
