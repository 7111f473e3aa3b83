// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how much time does less precision save, and what does it cost in error?
//
// For gemm, ddc and beamform, and for each precision that the device has, configurations of the
// search space, evenly spaced, are timed in turn, behind fills; the fastest one is reported, with
// its error beside sums of doubles on the host. All precisions get the same numbers, so the error
// of halves includes the rounding of the inputs, and that of beamform the rounding of its results
// to 8 bits. On the Pareto front (*) no other precision of the operation is both faster and more
// exact.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/operations/device_time.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/verify/accuracy.hpp"
#include "operations/gemm/gemm.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/beamform/reference.hpp"
#include "operations/telescope/ddc/ddc.hpp"
#include "operations/telescope/ddc/reference.hpp"
#include "operations/workload.hpp"

namespace {

using namespace tune::operations;  // NOLINT: the subject of the program
using bench::bench_device;
using bench::contender;
using tune::accuracy;
using tune::dtype;
using tune::float16;
using tune::host_array;

struct settings : bench::common_settings {
  std::size_t size = 0;  // of the matrices; 0: by the kind of device
  std::vector<std::string> only;
};

/// A line of the table.
struct measured {
  std::string precision;
  double seconds = 0;
  accuracy error{};
  std::string tuning{};
};

bool is_gpu(const bench_device& on) { return on.device.kind() == tune::device_kind::gpu; }

/// At most this many configurations of a space for which a condition holds.
template <class Tuning, class Condition>
std::vector<Tuning> spread_over(const tune::space<Tuning>& space, std::size_t most,
                                Condition&& condition) {
  std::vector<Tuning> all;
  for (const Tuning& each : space) {
    if (condition(each)) all.push_back(each);
  }
  if (all.size() <= most) return all;
  std::vector<Tuning> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

/// The number of configurations for a precision. A compiler for CPUs takes seconds for each.
std::size_t most_tried(const bench_device& on, const settings& given) {
  if (given.limit != 0) return given.limit;
  return is_gpu(on) ? 24 : 2;
}

/// Times operations in turn. Returns the number of the fastest one.
template <class Operation>
std::size_t time_all(bench_device& on, std::vector<std::unique_ptr<Operation>>& operations,
                     int rounds, measured& to) {
  std::vector<contender> timed;
  for (const auto& each : operations) timed.push_back({[&op = *each] { op.run(); }});
  bench::time_behind_fills(on, timed, rounds);
  const auto fastest = std::ranges::min_element(timed, {}, &contender::median);
  to.seconds = fastest->median();
  return static_cast<std::size_t>(fastest - timed.begin());
}

/// The errors of numbers beside those of the host.
accuracy accuracy_of(std::size_t count, const std::function<double(std::size_t)>& expected,
                     const std::function<double(std::size_t)>& got) {
  accuracy::sums all;
  for (std::size_t i = 0; i < count; ++i) {
    const double error = std::abs(got(i) - expected(i));
    ++all.elements;
    all.signal += expected(i) * expected(i);
    all.noise += error * error;
    all.largest = std::max(all.largest, error);
  }
  return accuracy(all);
}

void print_table(const std::string& title, const std::vector<measured>& rows) {
  if (rows.empty()) return;
  const tune::tuning_goal goal{.objectives = {tune::minimise("time"), tune::maximise("snr")},
                               .constraints = {}};
  const auto front =
      tune::pareto_front(goal, rows.size(), [&](std::size_t i, const std::string& of) {
        return of == "time" ? rows[i].seconds : rows[i].error.signal_to_noise();
      });
  fmt::print("\n{}\n  {:<34} {:>12} {:>9} {:>11}   {}\n", title, "", "time", "snr", "rms error",
             "tuning");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_on_front = std::ranges::find(front, i) != front.end();
    fmt::print("{} {:<34} {:>9.1f} us {:>6.1f} dB {:>11.3g}   {}\n", is_on_front ? '*' : ' ',
               rows[i].precision, 1e6 * rows[i].seconds, rows[i].error.signal_to_noise(),
               rows[i].error.rms_error(), rows[i].tuning);
  }
  std::fflush(stdout);
}

// ---- gemm

/// Square matrices of floats, and the first rows of their product.
struct matrices {
  explicit matrices(std::size_t extent)
      : size(extent),
        rows(std::min<std::size_t>(extent, 32)),
        a({extent, extent}),
        b({extent, extent}),
        c(rows * extent) {
    std::uint32_t state = 1;
    for (host_array<float>* each : {&a, &b}) {
      for (std::size_t i = 0; i < size * size; ++i) {
        each->data()[i] = static_cast<float>(next_number(state) >> 8) * 0x1p-23F - 1.0F;
      }
    }
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t p = 0; p < size; ++p) {
        for (std::size_t j = 0; j < size; ++j) {
          c[i * size + j] += static_cast<double>(a(i, p)) * static_cast<double>(b(p, j));
        }
      }
    }
  }

  std::size_t size;
  std::size_t rows;
  host_array<float> a;
  host_array<float> b;
  std::vector<double> c;
};

tune::device_array on_device(tune::command_queue& queue, const host_array<float>& contents,
                             dtype type) {
  tune::device_array made(queue.context(), {type, contents.size()});
  if (type == dtype::float32) {
    made.set(queue, contents);
    return made;
  }
  host_array<float16> rounded(contents.size());
  for (std::size_t i = 0; i < contents.size().elements(); ++i) {
    rounded.data()[i] = float16(contents.data()[i]);
  }
  made.set(queue, rounded);
  return made;
}

template <class Out>
accuracy accuracy_of_product(tune::command_queue& queue, const tune::device_array& c,
                             const matrices& of) {
  const auto got = c.get<Out>(queue);
  return accuracy_of(
      of.c.size(), [&](std::size_t i) { return of.c[i]; },
      [&](std::size_t i) {
        return static_cast<double>(static_cast<float>(got(i / of.size, i % of.size)));
      });
}

void bench_gemm(bench_device& on, const settings& given) {
  const std::size_t usual = is_gpu(on) ? 4096 : 256;
  const matrices of(given.size != 0 ? given.size : usual);
  struct variant {
    const char* name;
    gemm_key key;
    gemm_instruction least;  // an instruction that the precision has, beside those for exact ones
  };
  using precision = gemm_precision;
  using instruction = gemm_instruction;
  const std::vector<variant> variants{
      {"float32", {}, instruction::plain},
      {"float32 by tf32x3", {.precision = precision::tf32x3}, instruction::tf32x3},
      {"float32 by tf32", {.precision = precision::tf32}, instruction::tf32},
      {"float16, results of float32", {.input = dtype::float16}, instruction::plain},
      {"float16", {.input = dtype::float16, .output = dtype::float16}, instruction::plain}};
  std::vector<measured> rows;
  for (const auto& [name, key, least] : variants) {
    const auto is_wanted = [&, by = least](const gemm_tuning& each) {
      return by == instruction::plain || each.instruction == by;
    };
    const auto tunings =
        spread_over(tuning_space(key, on.device), most_tried(on, given), is_wanted);
    if (tunings.empty()) continue;
    const tune::device_array a = on_device(on.queue, of.a, key.input);
    const tune::device_array b = on_device(on.queue, of.b, key.input);
    const tune::device_array c(on.context, {key.output, {of.size, of.size}});
    std::vector<std::unique_ptr<gemm>> operations;
    for (const gemm_tuning& each : tunings) {
      operations.push_back(std::make_unique<gemm>(
          gemm_template(on.context, key, each).instantiate(on.queue, of.size, of.size, of.size)));
      operations.back()->bind({{"a", a}, {"b", b}, {"c", c}});
    }
    measured row{.precision = name};
    const std::size_t fastest = time_all(on, operations, given.rounds, row);
    operations[fastest]->run();
    row.error = key.output == dtype::float32 ? accuracy_of_product<float>(on.queue, c, of)
                                             : accuracy_of_product<float16>(on.queue, c, of);
    row.tuning = tune::to_string(tune::to_values(tunings[fastest]));
    rows.push_back(std::move(row));
  }
  print_table(fmt::format("gemm of {0} x {0} x {0}", of.size), rows);
}

// ---- ddc

void bench_ddc(bench_device& on, const settings& given) {
  const ddc_key key{};
  const std::size_t count = key.taps + (std::size_t{1} << (is_gpu(on) ? 24 : 17));
  const std::size_t compared = key.taps + (std::size_t{1} << 16);  // samples
  const std::uint64_t step = 0x123456789ABCDEF0U;
  std::uint32_t state = 1;
  host_array<std::uint8_t> samples({2, packed_row_bytes(count, key.bits)});
  host_array<std::uint8_t> first({2, packed_row_bytes(compared, key.bits)});
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t i = 0; i < samples.size()[1]; ++i) {
      samples(p, i) = static_cast<std::uint8_t>(next_number(state) >> 24);
      if (i < first.size()[1]) first(p, i) = samples(p, i);
    }
  }
  host_array<std::complex<float>> taps({key.taps});
  for (std::size_t k = 0; k < key.taps; ++k) {
    const auto draw = [&] {
      return static_cast<float>(static_cast<std::int32_t>(next_number(state))) * 0x1p-34F;
    };
    const float real = draw();
    taps(k) = {real, draw()};
  }
  const auto expected = ddc_on_host(key, first, {taps.data(), key.taps}, compared, step, 0);
  std::vector<measured> rows;
  for (const bool tensor : {false, true}) {
    const auto tunings =
        spread_over(tuning_space(key, has_ddc_tensor_units(on.device)), most_tried(on, given),
                    [&](const ddc_tuning& each) { return each.tensor == tensor; });
    if (tunings.empty()) continue;
    std::vector<std::unique_ptr<ddc>> operations;
    for (const ddc_tuning& each : tunings) {
      auto& op = operations.emplace_back(std::make_unique<ddc>(
          ddc_template(on.context, key, each).instantiate(on.queue, 2, count)));
      if (operations.size() == 1) {
        op->ensure_all_bound();
        op->buffer("samples").set(on.queue, samples);
        op->buffer("taps").set(on.queue, taps);
      } else {
        for (const auto& [name, slot] : op->slots()) op->bind(name, operations[0]->buffer(name));
      }
      op->set_mixer(step, 0);
    }
    measured row{.precision = tensor ? "pairs of float16 in tensor units" : "float32"};
    const std::size_t fastest = time_all(on, operations, given.rounds, row);
    operations[fastest]->run();
    const auto got = operations[fastest]->buffer("out").get<std::complex<float>>(on.queue);
    const std::size_t outputs = expected.size()[1];
    const auto part = [&](const host_array<std::complex<float>>& from, std::size_t i) {
      const std::complex<float> value = from(i / 2 / outputs, i / 2 % outputs);
      return static_cast<double>(i % 2 == 0 ? value.real() : value.imag());
    };
    row.error = accuracy_of(
        4 * outputs, [&](std::size_t i) { return part(expected, i); },
        [&](std::size_t i) { return part(got, i); });
    row.tuning = tune::to_string(tune::to_values(tunings[fastest]));
    rows.push_back(std::move(row));
  }
  print_table(fmt::format("ddc of 2 x {} samples of {} bits, {} taps", count, key.bits, key.taps),
              rows);
}

// ---- beamform

/// The error on few channels, which the host computes, too.
accuracy accuracy_of_beams(bench_device& on, const beamform_template& made,
                           const beamform_key& key) {
  const beamform_shape shape{
      .batches = 2, .antennas = 64, .channels = 4, .spectra = 64, .beams = key.beams};
  const beamform_input input = random_input(shape);
  const auto expected = beamform_on_host(key, shape, input, 0, 0);
  beamform op = made.instantiate(on.queue, shape);
  op.ensure_all_bound();
  op.buffer("in").set(on.queue, input.in);
  op.buffer("weights").set(on.queue, input.weights);
  op.buffer("delays").set(on.queue, input.delays);
  op.buffer("saturated").zero(on.queue);
  op.run();
  const auto got = op.buffer("out").get<std::int8_t>(on.queue);
  constexpr double most = 127;
  return accuracy_of(
      2 * expected.size().elements(),
      [&](std::size_t i) {
        const std::complex<double> value = expected.data()[i / 2];
        return std::clamp(i % 2 == 0 ? value.real() : value.imag(), -most, most);
      },
      [&](std::size_t i) { return static_cast<double>(got.data()[i]); });
}

void bench_beamform(bench_device& on, const settings& given) {
  const beamform_key key{.beams = 8, .has_dither = false};
  const std::size_t channels = is_gpu(on) ? 512 : 16;
  const beamform_shape shape{
      .batches = 8, .antennas = 64, .channels = channels, .spectra = 256, .beams = key.beams};
  std::vector<measured> rows;
  for (const bool tensor : {false, true}) {
    const auto tunings =
        spread_over(tuning_space(key, has_beamform_tensor_units(on.device)), most_tried(on, given),
                    [&](const beamform_tuning& each) { return each.tensor == tensor; });
    if (tunings.empty()) continue;
    std::vector<beamform_template> templates;
    std::vector<std::unique_ptr<beamform>> operations;
    for (const beamform_tuning& each : tunings) {
      templates.emplace_back(on.context, key, each);
      auto& op = operations.emplace_back(
          std::make_unique<beamform>(templates.back().instantiate(on.queue, shape)));
      if (operations.size() == 1) {
        op->ensure_all_bound();
        for (const char* name : {"in", "weights", "delays"})
          set_numbers(on.queue, op->buffer(name));
        op->buffer("saturated").zero(on.queue);
      } else {
        for (const auto& [name, slot] : op->slots()) op->bind(name, operations[0]->buffer(name));
      }
    }
    measured row{.precision = tensor ? "digits of int8 in tensor units" : "float32"};
    const std::size_t fastest = time_all(on, operations, given.rounds, row);
    row.error = accuracy_of_beams(on, templates[fastest], key);
    row.tuning = tune::to_string(tune::to_values(tunings[fastest]));
    rows.push_back(std::move(row));
  }
  print_table(fmt::format("beamform of {} antennas x {} channels, {} beams of 8 bits",
                          shape.antennas, channels, key.beams),
              rows);
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings given;
  CLI::App app("Compares precisions; see the head of the source for the method.");
  bench::add_options(app, given);
  app.add_option("--size", given.size, "rows and columns of the matrices");
  app.add_option("--only", given.only, "gemm, ddc, beamform")
      ->check(CLI::IsMember({"gemm", "ddc", "beamform"}));
  CLI11_PARSE(app, argc, argv);
  bench_device on = bench::device_at(given.device);
  fmt::print("{} {}\n", on.device.info().backend, on.device.name());
  const auto is_wanted = [&](const char* name) {
    return given.only.empty() || std::ranges::find(given.only, name) != given.only.end();
  };
  if (is_wanted("gemm")) bench_gemm(on, given);
  if (is_wanted("ddc")) bench_ddc(on, given);
  if (is_wanted("beamform")) bench_beamform(on, given);
}
