// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what takes the time of constructing a tuned template, once its result is in the
// database?
//
// A template with one kernel is tuned once into a database of its own. Then each benchmark repeats
// one part: the lookup (the autotuner's call: settings, key, SQLite, conversion to a struct),
// compiling the program with the given tuning, making the operation with its kernel object, and the
// whole. The rest is the whole minus the parts. The cache of programs is off for compile and whole,
// and on and filled for cached_compile and cached_whole. PoCL's own cache stays on, as for users,
// so the timed compilation is answered by that cache. bare_whole is cached_whole for a kernel that
// is described at run time, with 15.5 million combinations of which 3,424 are allowed, and
// bare_description its description alone. new_size is the first run of a template with a portfolio
// at a size that it has not met: choice, operation, buffer, launch, and the wait for its end.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/extra/bare.hpp"
#include "libtune/extra/ranged.hpp"
#include "libtune/libtune.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/search/classic_spaces.hpp"

namespace bench {

struct key {
  int size = 1024;
  tune::dtype type = tune::dtype::float32;
};
struct sized_key {
  tune::size_range size{1, 1 << 20, tune::range_scale::logarithmic};
};
struct tuning {
  int wgs = 64;
};

}  // namespace bench

LIBTUNE_FIELDS(bench::key, size, type)
LIBTUNE_FIELDS(bench::sized_key, size)
LIBTUNE_FIELDS(bench::tuning, wgs)

namespace {

const tune::kernel_source source{"scale.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1) void scale(GLOBAL type* data, type factor) {
  data[get_global_id(0)] *= factor;
})"};

class scale_operation final : public tune::operation {
 public:
  scale_operation(const tune::command_queue& queue, const tune::program& program,
                  const bench::tuning& tuned, std::size_t size = 1024)
      : operation(queue),
        kernel_(program.create_kernel("scale")),
        size_(size),
        wgs_(static_cast<std::size_t>(tuned.wgs)),
        data_(add_slot("data", {tune::dimension(size, {.round = wgs_})}, tune::dtype::float32)) {}

 private:
  void do_run() override { enqueue(kernel_, {{tune::round_up(size_, wgs_)}, {wgs_}}, data_, 1.0F); }

  tune::kernel kernel_;
  std::size_t size_;
  std::size_t wgs_;
  tune::io_slot& data_;
};

const tune::autotuner<bench::key, bench::tuning> autotune{
    {.name = "bench.scale_template.autotune", .version = 0, .test = {.wgs = 32}},
    [](tune::tuning_session& session, const bench::key& key) {
      auto queue = session.context().create_tuning_command_queue();
      tune::space<bench::tuning> space;
      space.add(&bench::tuning::wgs, {32, 64});
      return session.tune(space, [&](const bench::tuning& tuned) {
        const auto program = tune::compile(session.context(), source, tune::defines(key, tuned));
        scale_operation operation(queue, program, tuned);
        operation.ensure_all_bound();
        return tune::make_measure(queue, std::move(operation));
      });
    }};

tune::program compiled(const tune::context& context, const bench::tuning& tuned) {
  return tune::compile(context, source, tune::defines(bench::key{}, tuned));
}

const tune::ranged_autotuner<bench::sized_key, bench::tuning> autotune_sized{
    {.name = "bench.sized_template.autotune", .version = 0, .test = {.wgs = 32}},
    [](tune::tuning_session& session, const bench::sized_key&,
       std::span<const std::uint64_t> sizes) {
      auto queue = session.context().create_tuning_command_queue();
      tune::space<bench::tuning> space;
      space.add(&bench::tuning::wgs, {32, 64});
      return session.tune(space, [&, size = sizes[0]](const bench::tuning& tuned) {
        scale_operation operation(queue, compiled(session.context(), tuned), tuned, size);
        operation.ensure_all_bound();
        return tune::make_measure(queue, std::move(operation));
      });
    }};

struct fixture {
  fixture() : context(tune::create_some_context()), queue(context.create_command_queue()) {
    ::setenv("LIBTUNE_DB", (folder / "tuning.db").c_str(), 1);
    ::setenv("LIBTUNE_CACHE", "off", 1);
    tuned = autotune(context);
  }

  tune::testing::temporary_directory folder;
  tune::context context;
  tune::command_queue queue;
  bench::tuning tuned;
};

fixture& shared() {
  static fixture made;
  return made;
}

void lookup(benchmark::State& state) {
  fixture& f = shared();
  for (auto _ : state) benchmark::DoNotOptimize(autotune(f.context));
}

void compile(benchmark::State& state) {
  fixture& f = shared();
  for (auto _ : state) {
    benchmark::DoNotOptimize(compiled(f.context, f.tuned));
  }
}

void instantiate(benchmark::State& state) {
  fixture& f = shared();
  const auto program = compiled(f.context, f.tuned);
  for (auto _ : state) benchmark::DoNotOptimize(scale_operation(f.queue, program, f.tuned));
}

void whole(benchmark::State& state) {
  fixture& f = shared();
  for (auto _ : state) {
    const bench::tuning tuned = autotune(f.context);
    const auto program = compiled(f.context, tuned);
    benchmark::DoNotOptimize(scale_operation(f.queue, program, tuned));
  }
}

/// Turns the cache of programs on during its life.
class program_cache_on {
 public:
  program_cache_on() { ::setenv("LIBTUNE_CACHE", (shared().folder / "programs").c_str(), 1); }
  ~program_cache_on() { ::setenv("LIBTUNE_CACHE", "off", 1); }
  program_cache_on(const program_cache_on&) = delete;
  program_cache_on& operator=(const program_cache_on&) = delete;
};

void cached_compile(benchmark::State& state) {
  const program_cache_on cache;
  compile(state);
}

void cached_whole(benchmark::State& state) {
  const program_cache_on cache;
  whole(state);
}

/// The text of a kernel with the parameters and restrictions of the convolution of the literature.
tune::bare_kernel described() {
  tune::bare_kernel kernel({.name = "scale_bare",
                            .source = R"(
KERNEL void scale_bare(GLOBAL float* data, float factor) {
  data[get_global_id(0)] *= factor * vector;
})",
                            .problem_size = {1024}});
  const auto space = tune::testing::convolution_parameters().core();
  for (const tune::parameter& each : space.parameters()) {
    std::vector<std::int64_t> candidates;
    for (const auto& value : each.candidates) candidates.push_back(std::get<std::int64_t>(value));
    kernel.parameter(each.name, candidates);
  }
  for (const char* text : tune::testing::convolution_texts) kernel.restrict(text);
  kernel.work_group("tbx", "tby").arguments(tune::out<float>({1024}), 2.0F);
  return kernel.remember(
      {.name = "bench.bare", .version = 0, .key = {{"size", std::int64_t{1024}}}});
}

void bare_description(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(described());
}

void bare_whole(benchmark::State& state) {
  const program_cache_on cache;
  fixture& f = shared();
  tune::tuning_options options;
  options.budget = tune::tuning_budget{.trials = 1};
  described().tune(f.context, options);
  for (auto _ : state) {
    const tune::tuned_kernel found = described().tune(f.context, options);
    benchmark::DoNotOptimize(found.instantiate(f.queue));
  }
}

void new_size(benchmark::State& state) {
  fixture& f = shared();
  const auto portfolio = autotune_sized.portfolio(f.context);
  std::vector<tune::program> programs;
  for (const bench::tuning& each : portfolio.tunings()) {
    programs.push_back(compiled(f.context, each));
  }
  std::size_t place = 0;
  for (auto _ : state) {
    constexpr std::size_t step = 4099;  // odd, so that all sizes come before one comes again
    place = (place + step) % (1 << 20);
    const std::size_t size = place + 1;
    const std::size_t chosen = portfolio.choose({size});
    scale_operation operation(f.queue, programs[chosen], portfolio.tunings()[chosen], size);
    operation.ensure_all_bound();
    operation();
    f.queue.finish();
  }
}

BENCHMARK(lookup)->Unit(benchmark::kMicrosecond);
BENCHMARK(compile)->Unit(benchmark::kMicrosecond);
BENCHMARK(instantiate)->Unit(benchmark::kMicrosecond);
BENCHMARK(whole)->Unit(benchmark::kMicrosecond);
BENCHMARK(cached_compile)->Unit(benchmark::kMicrosecond);
BENCHMARK(cached_whole)->Unit(benchmark::kMicrosecond);
BENCHMARK(bare_description)->Unit(benchmark::kMicrosecond);
BENCHMARK(bare_whole)->Unit(benchmark::kMicrosecond);
BENCHMARK(new_size)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
