// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The pipeline of tests/device/sealed_pipeline_test.cpp over the fake driver, which does nothing
// that libtune could be blamed for: not a system call is left.
#include "tests/device/sealed_pipeline.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <unistd.h>

#include "libtune/base/log.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/device/cuda/fake_machine.hpp"
#include "tests/device/cuda/system_call_watch.hpp"
#include "tests/device/lock_watch.hpp"

namespace sealed_pipeline_test {

using sealed::run_without_system_calls;

/// The pipeline that a child prepares, and then uses.
struct bench {
  void prepare() {
    const tune::device device = fake_cuda::make_device();
    fake_cuda::settings().is_silent = true;
    pipeline.emplace(device);
    pipeline->run();
    tune::seal();
  }

  int run() {
    const tune::testing::allocation_counter allocations;
    const sealed::lock_watch locks;
    for (int i = 0; i < 1000; ++i) pipeline->run();
    if (allocations.count() != 0) return 1;
    if (locks.count() != 0) return 2;
    return pipeline->is_right() ? 0 : 3;
  }

  std::optional<sealed::pipeline> pipeline;
};

/// True if children can be watched here; else the test case is skipped.
bool can_watch() {
  if (!fake_cuda::has_compiler()) return false;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  tune::testing::skip("a sanitizer makes system calls of its own");
  return false;
#else
  if (!run_without_system_calls([] {}, [] { return 0; }).empty()) return true;
  tune::testing::skip("this system has no filter for system calls");
  return false;
#endif
}

const char* const killed = "killed by signal 31 (Bad system call)";

TEST_CASE("a sealed pipeline makes no system call, takes no lock and allocates nothing") {
  if (!can_watch()) return;
  bench b;
  CHECK(run_without_system_calls([&] { b.prepare(); }, [&] { return b.run(); }) == "ended with 0");
}

TEST_CASE("a driver that is not silent is told from one that is, by its locks and allocations") {
  if (!can_watch()) return;
  bench b;
  const auto prepare_aloud = [&] {
    b.prepare();
    fake_cuda::settings().is_silent = false;
  };
  CHECK(run_without_system_calls(prepare_aloud, [&] { return b.run(); }) == "ended with 1");
}

TEST_CASE("the watch lets nothing pass: neither a call of its own nor what a door would lead to") {
  if (!can_watch()) return;
  CHECK(run_without_system_calls([] {}, [] { return ::getppid() > 0 ? 0 : 1; }) == killed);
  CHECK(run_without_system_calls([] {},
                                 [] {
                                   tune::log(tune::log_level::error, "this is written");
                                   return 0;
                                 }) == killed);
  bench b;
  const auto allocate = [&] {
    const tune::unsealed_section exempt;
    b.pipeline->context().create_buffer(std::size_t{1} << 26);
    return 0;
  };
  CHECK(run_without_system_calls([&] { b.prepare(); }, allocate) == killed);
}

}  // namespace sealed_pipeline_test
