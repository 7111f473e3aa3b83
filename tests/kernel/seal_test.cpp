// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The doors of this room (libtune/base/seal.hpp).
#include <chrono>
#include <doctest/doctest.h>
#include <string>

#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/pool/worker.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace seal_test {

using tune::seal_mode;
using tune::seal_report;
using tune::sealed_action;
using tune::testing::scoped_environment;
using tune::testing::scoped_seal;

const tune::kernel_source source{"a.kernel", "KERNEL void a() {}"};

bool begins(const std::string& text, const std::string& beginning) {
  return text.find(beginning) == 0;
}

TEST_CASE("a sealed thread compiles nothing, even if the cache would have it") {
  const tune::testing::temporary_directory folder;
  const scoped_environment cache("LIBTUNE_CACHE", folder.path().c_str());
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::compile(context, source);
  {
    const scoped_seal sealed;
    try {
      tune::compile(context, source);
      FAIL("compiled");
    } catch (const tune::seal_broken_error& stopped) {
      CHECK(stopped.action() == sealed_action::compile);
      CHECK(begins(stopped.what(), "compile 'a.kernel' for device 'fake device'"));
    }
  }
  const scoped_seal sealed(seal_mode::counts);
  CHECK_NOTHROW(tune::compile(context, source));
  CHECK(seal_report().count(sealed_action::compile) == 1);
  CHECK(seal_report().count(sealed_action::load) == 1);  // found in the cache
  CHECK(begins(seal_report().first.front().what, "compile 'a.kernel'"));
}

TEST_CASE("a sealed thread has no pool compile and starts no workers") {
  tune::compile_pool pool({});
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  const auto submit = [&] { return pool.submit(context, {"a.kernel", "", {}}); };
  {
    const scoped_seal sealed;
    CHECK_THROWS_WITH_AS(submit(), doctest::Contains("have a helper process compile for device"),
                         tune::seal_broken_error);
    CHECK_THROWS_WITH_AS(pool.warm_up(context), doctest::Contains("start helper processes"),
                         tune::seal_broken_error);
    CHECK_THROWS_AS(tune::detail::worker({.program = "/nothing/here"}, std::nullopt),
                    tune::seal_broken_error);
  }
  const scoped_seal sealed(seal_mode::counts);
  CHECK_NOTHROW(submit());
  CHECK_NOTHROW(pool.warm_up(context));
  CHECK(seal_report().count(sealed_action::process) == 2);
}

LIBTUNE_DEVICE_TEST_CASE("libtune's own threads go on under a seal of the program", device) {
  const std::string program = tune::detail::find_worker_program();
  const tune::context context = device.create_context();
  tune::compile_pool pool({.program = program, .workers = 1});
  if (!pool.can_compile(context)) return;
  const scoped_seal sealed({.scope = tune::seal_scope::program});
  const tune::unsealed_section control;
  const tune::compile_future ticket =
      pool.submit(context, {"a.kernel", "#error this is compiled", {}});
  CHECK(ticket.result().what == tune::compile_result::status::build_failed);
  CHECK(seal_report().total() == 0);
}

}  // namespace seal_test
