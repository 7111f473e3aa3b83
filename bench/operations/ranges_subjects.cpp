// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operations/ranges_subjects.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "operations/workload.hpp"

namespace bench {

using namespace tune::operations;  // NOLINT: the subjects
using tune::size_list;

namespace {

template <class T>
std::unique_ptr<tune::operation> on_heap(T op) {
  return std::make_unique<T>(std::move(op));
}

/// Fills the slots with these names with random numbers.
auto fill_with_numbers(bench_device& on, std::vector<std::string> names) {
  return [&on, names = std::move(names)](tune::operation& op, const size_list&) {
    for (const std::string& name : names) set_numbers(on.queue, op.buffer(name));
  };
}

template <class Template>
auto compile_with(bench_device& on, std::function<Template(const tune::context&)> make) {
  auto made = std::make_shared<const Template>(make(on.context));
  return maker([&on, made](const size_list& at) {
    return on_heap(made->instantiate(on.queue, at[0], at[1]));
  });
}

/// Sets every element of an array of halves to a number between -1 and 1 with a minimum magnitude.
void set_halves(tune::command_queue& queue, const tune::device_array& array) {
  std::vector<std::uint16_t> bits(array.layout().bytes() / sizeof(std::uint16_t));
  std::uint32_t state = 1;
  for (std::uint16_t& each : bits) {
    state = state * 1664525U + 1013904223U;
    each = static_cast<std::uint16_t>(0x3800U | (state >> 8 & 0x3FFU) | (state >> 16 & 0x8000U));
  }
  queue.write(array.buffer(), bits.data(), array.layout().bytes());
}

}  // namespace

subject<transpose_tuning> transpose_subject(bench_device& on, std::uint64_t largest) {
  const tune::dtype type = tune::dtype::float32;
  const tune::size_range edge(1, largest != 0 ? largest : 8192);
  return {.name = "transpose",
          .ranges = {edge, edge},
          .space = tuning_space(transpose_key{}),
          .search = [&on, type] { transpose_template(on.context, type); },
          .portfolio =
              [&on, type, edge] {
                return ranged_transpose_template(on.context, type, edge, edge).portfolio();
              },
          .compile =
              [&on, type](const transpose_tuning& tuning) {
                return compile_with<transpose_template>(on, [&](const tune::context& context) {
                  return transpose_template(context, type, tuning);
                });
              },
          .fill = fill_with_numbers(on, {"src"}),
          .inputs = {"src"}};
}

subject<hreduce_tuning> hreduce_subject(bench_device& on, std::uint64_t largest) {
  const reduction how = sum_of(tune::dtype::float32);
  const tune::size_range rows(1, largest != 0 ? largest : 16384);
  const tune::size_range columns(1, largest != 0 ? largest : 16384);
  return {.name = "hreduce",
          .ranges = {rows, columns},
          .space = tuning_space(hreduce_key{}),
          .search = [&on, how] { hreduce_template(on.context, how); },
          .portfolio =
              [&on, how, rows, columns] {
                return ranged_hreduce_template(on.context, how, rows, columns).portfolio();
              },
          .compile =
              [&on, how](const hreduce_tuning& tuning) {
                return compile_with<hreduce_template>(on, [&](const tune::context& context) {
                  return hreduce_template(context, how, 8192, tuning);
                });
              },
          .fill = fill_with_numbers(on, {"src"}),
          .inputs = {"src"}};
}

subject<maskedsum_tuning> maskedsum_subject(bench_device& on, std::uint64_t largest) {
  const tune::size_range rows(1, largest != 0 ? largest : 8192);
  const tune::size_range columns(1, largest != 0 ? largest : 8192);
  return {.name = "maskedsum",
          .ranges = {rows, columns},
          .space = tuning_space(maskedsum_key{}),
          .search = [&on] { maskedsum_template(on.context); },
          .portfolio =
              [&on, rows, columns] {
                return ranged_maskedsum_template(on.context, false, rows, columns).portfolio();
              },
          .compile =
              [&on](const maskedsum_tuning& tuning) {
                return compile_with<maskedsum_template>(on, [&](const tune::context& context) {
                  return maskedsum_template(context, false, 8192, tuning);
                });
              },
          .fill = fill_with_numbers(on, {"src", "mask"}),
          .inputs = {"src", "mask"}};
}

/// Filter banks of two polarisations of samples of 10 bits, with 16 taps.

subject<pfb_tuning> pfb_subject(bench_device& on, std::uint64_t largest) {
  const pfb_key exact;
  const std::uint64_t most = largest != 0 ? largest : 32768;
  const ranged_pfb_key key{.channels = {16, most, tune::range_scale::logarithmic, 16},
                           .spectra = {1, std::max<std::uint64_t>(most / 32, 1)}};
  return {
      .name = "pfb",
      .ranges = {key.channels, key.spectra},
      .space = tuning_space(exact),
      .search = [&on, exact] { pfb_template(on.context, exact); },
      .portfolio = [&on, key] { return ranged_pfb_template(on.context, key).portfolio(); },
      .compile =
          [&on, exact](const pfb_tuning& tuning) {
            const auto made = std::make_shared<const pfb_template>(on.context, exact, tuning);
            return maker([&on, made](const size_list& at) {
              const std::size_t rows = at[1] + made->key().taps - 1;
              return on_heap(made->instantiate(
                  on.queue, {.channels = at[0], .samples = rows * 2 * at[0], .spectra = at[1]}));
            });
          },
      .fill = fill_with_numbers(on, {"samples", "weights"}),
      .inputs = {"samples", "weights"},
      .absolute = 0.05};  // samples are up to 512
}

subject<gemm_tuning> gemm_subject(bench_device& on, std::uint64_t largest, tune::dtype type) {
  const tune::size_range edge(16, largest != 0 ? largest : 8192);
  const gemm_key key{.input = type, .output = type, .m = edge, .n = edge, .k = edge};
  // There is no template for one size, so the search is a portfolio for a single size.
  const tune::size_range one(edge.at(0.8), edge.at(0.8));
  const gemm_key exact{.input = type, .output = type, .m = one, .n = one, .k = one};
  const bool is_half = type == tune::dtype::float16;
  return {.name = is_half ? "gemm_half" : "gemm",
          .ranges = {edge, edge, edge},
          .space = tuning_space(key, on.device),
          .search = [&on, exact] { gemm_template(on.context, exact); },
          .portfolio = [&on, key] { return *gemm_template(on.context, key).choice(); },
          .compile =
              [&on, key](const gemm_tuning& tuning) {
                auto made = std::make_shared<const gemm_template>(on.context, key, tuning);
                return maker([&on, made](const size_list& at) {
                  return on_heap(made->instantiate(on.queue, at[0], at[1], at[2]));
                });
              },
          .fill =
              [&on, is_half](tune::operation& op, const size_list&) {
                for (const char* name : {"a", "b"}) {
                  if (is_half) {
                    set_halves(on.queue, op.buffer(name));
                  } else {
                    set_numbers(on.queue, op.buffer(name));
                  }
                }
              },
          .inputs = {"a", "b"},
          .trusted = gemm_tuning{},
          .result = type,
          .absolute = is_half ? 0.5 : 1e-4,  // halves have both signs, and sums of up to 8192
          .relative = is_half ? 5e-3 : 1e-4};
}

/// Complex transforms of lines. Each plan is for one size, so compiled programs are not reused.

subject<fft_tuning> fft_subject(bench_device& on, std::uint64_t largest) {
  const std::uint64_t most = largest != 0 ? largest : 8192;
  const ranged_fft_key key{.length = {16, most}, .batch = {1, most}};
  const auto about = [](std::uint64_t length, std::uint64_t batch) {
    return fft_description{.size = tune::shape{batch, length}};
  };
  const fft_key exact{.size = std::to_string(key.length.at(0.8)), .batch = key.batch.at(0.8)};
  return {
      .name = "fft",
      .ranges = {key.planes, key.rows, key.length, key.batch},
      .space = tuning_space(exact, on.device),
      .search = [&on, about,
                 key] { fft_template(on.context, about(key.length.at(0.8), key.batch.at(0.8))); },
      .portfolio = [&on, key] { return ranged_fft_template(on.context, key).portfolio(); },
      .compile =
          [&on, about](const fft_tuning& tuning) {
            return maker([&on, about, tuning](const size_list& at) {
              return on_heap(
                  fft_template(on.context, about(at[2], at[3]), tuning).instantiate(on.queue));
            });
          },
      .fill = fill_with_numbers(on, {"src"})};
}

}  // namespace bench
