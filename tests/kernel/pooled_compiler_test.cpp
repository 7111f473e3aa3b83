// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>

#include "libtune/base/error.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/testing/fake_device.hpp"

namespace pooled_compiler_test {

using tune::compile_pool;
using tune::pooled_compiler;
using tune::program_source;
using tune::testing::fake_call;
using tune::testing::fake_device;

const tune::in_process_compiler in_process;

/// A fake device that the workers of the tests compile for.
struct bench {
  fake_device fake{{.backend = "OpenCL"}};
  tune::context context = fake.device().create_context();
  mutable compile_pool pool{{.program = LIBTUNE_FAULTY_WORKER, .workers = 2}};
  pooled_compiler compiler{in_process, pooled_compiler::use_pool::always, &pool};

  tune::program build(const std::string& text) const {
    return compiler.build(context, {.name = "a.kernel", .text = text, .options = {}});
  }
  std::size_t compiles() const { return fake.calls(fake_call::compile); }
};

TEST_CASE("what crashes a worker is not tried in this process, and is not called wrong") {
  const bench here;
  const auto message_of = [&](const char* text) -> std::string {
    try {
      here.build(text);
    } catch (const tune::compiler_lost_error& lost) {
      CHECK(lost.why() == tune::compiler_lost_error::cause::crashed);
      CHECK(std::string(lost.what()).ends_with(lost.log()));
      return lost.what();
    } catch (const tune::build_error& failure) {
      return failure.log();
    }
    return "it was built";
  };
  CHECK(message_of("CRASH").find("was not compiled: the compiler crashed (killed by signal 11") !=
        std::string::npos);
  CHECK(message_of("KILL").find("was not compiled: the compiler was killed by the system") !=
        std::string::npos);
  CHECK(message_of("WRONG") == "the log");
  CHECK(here.compiles() == 0);
}

TEST_CASE("what no worker can compile, or is not accepted from it, is compiled in this process") {
  const bench here;
  CHECK_NOTHROW(here.build("REFUSE"));
  CHECK(here.compiles() == 1);
  CHECK_NOTHROW(here.build("ECHO no binary of this device"));
  CHECK(here.compiles() == 2);
}

TEST_CASE("without workers all is compiled in this process") {
  const bench here;
  compile_pool none({.program = ""});
  const pooled_compiler compiler(in_process, pooled_compiler::use_pool::always, &none);
  CHECK_NOTHROW(compiler.build(here.context, {.name = "a", .text = "CRASH", .options = {}}));
  CHECK(here.compiles() == 1);
}

TEST_CASE("one program alone is compiled here, those beside it by workers") {
  const bench here;
  const pooled_compiler compiler(in_process, pooled_compiler::use_pool::when_busy, &here.pool);
  const auto build = [&](const char* text) {
    compiler.build(here.context, {.name = "a", .text = text, .options = {}});
  };
  build("CRASH");
  CHECK(here.compiles() == 1);
  CHECK(here.pool.running() == 0);
  const auto future =
      here.pool.submit(here.context, {.name = "b", .text = "ECHO 1", .options = {}});
  future.result();
  CHECK_THROWS_AS(build("CRASH"), tune::build_error);
  CHECK(here.compiles() == 1);
}

}  // namespace pooled_compiler_test
