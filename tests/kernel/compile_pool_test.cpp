// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/compile_pool.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/defines.hpp"
#include "libtune/kernel/pool/worker.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/kernel/preamble.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/kernel/on_device.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/child_process.hpp"

namespace compile_pool_test {

using namespace std::chrono_literals;
using namespace tune::testing;
using namespace tune;
using status = tune::compile_result::status;

tune::compile_pool_options options() {
  return {.program = tune::detail::find_worker_program(), .workers = 2};
}

program_source kernel(const tune::context& context, int number) {
  return {.name = "add.kernel",
          .text = std::string(tune::preamble(context.device().info().language)) +
                  fmt::format("KERNEL REQD_WORK_GROUP_SIZE(16, 1, 1)\n"
                              "void add(GLOBAL float* data) {{\n"
                              "  data[get_global_id(0)] += {};\n"
                              "}}\n",
                              number),
          .options = {}};
}

std::vector<float> run(const tune::context& context, const tune::program& program) {
  auto queue = context.create_command_queue();
  const tune::buffer buffer = on_device::buffer_of(queue, std::vector<float>(64, 1.0F));
  auto kernel = program.create_kernel("add");
  kernel.set_argument(0, buffer);
  queue.enqueue(kernel, {.global = {64}, .local = {16}});
  return on_device::contents<float>(queue, buffer);
}

LIBTUNE_DEVICE_TEST_CASE("programs from the pool run here", device) {
  compile_pool pool(options());
  const tune::context context = device.create_context();
  REQUIRE(pool.can_compile(context));
  pool.warm_up(context);
  std::vector<compile_future> futures;
  for (int i = 0; i < 2; ++i) futures.push_back(pool.submit(context, kernel(context, i + 1)));
  for (int i = 0; i < 2; ++i) {
    const tune::compile_result& result = futures[i].result();
    CAPTURE(result.text);
    REQUIRE(result.what == status::built);
    const auto program = context.create_program_from_binary("add.kernel", result.binary);
    CHECK(run(context, program) == std::vector<float>(64, 2.0F + static_cast<float>(i)));
  }
  CHECK(pool.completed() == 2);
  // Where workers start in turn, one may have done both.
  CHECK(pool.running() >= 1);
  CHECK(pool.running() <= 2);
}

LIBTUNE_DEVICE_TEST_CASE("nobody counts warnings and errors on standard error", device) {
  const tune::context context = device.create_context();
  program_source warns = kernel(context, 1);
  warns.name = "warns.kernel";
  warns.text += "#warning something\n";
  program_source wrong = kernel(context, 1);
  wrong.text += "#line 1 \"wrong.kernel\"\nthis does not compile\n";
  captured_errors errors;
  {
    compile_pool pool(options());
    CHECK(pool.submit(context, warns).result().what == status::built);
    CHECK(pool.submit(context, wrong).result().what == status::build_failed);
  }
  CHECK(errors.text().find("generated.") == std::string::npos);
  // In this process the errors are counted, but not the warnings of what compiles.
  warns.text += "// here\n";
  CHECK_NOTHROW(context.create_program(warns));
  CHECK(errors.text().find("generated.") == std::string::npos);
}

LIBTUNE_DEVICE_TEST_CASE("named launches are compiled with the program", device) {
  tune::compile_pool_options one = options();
  one.workers = 1;
  compile_pool pool(one);
  const tune::context context = device.create_context();
  const auto has = [&](int number, std::vector<tune::nd_range> launches, const char* shape) {
    const program_source source = kernel(context, number);
    const auto result = pool.submit(context, source, {}, std::move(launches)).result();
    REQUIRE(result.what == status::built);
    const auto program = context.create_program_from_binary(source.name, result.binary);
    CHECK(run(context, program) == std::vector<float>(64, 1.0F + static_cast<float>(number)));
    const std::string content(reinterpret_cast<const char*>(result.binary.data()),
                              result.binary.size());
    return device.platform_name() != "Portable Computing Language" ||
           content.find(std::string("/") + shape + "/") != std::string::npos;
  };
  // By one worker, one shape after the other; without a name, small and large.
  CHECK(has(7, {{.global = {64}, .local = {16}}}, "16-1-1-goffs0-smallgrid"));
  CHECK(has(8, {{.global = {1 << 20}, .local = {0, 0, 0}}}, "16-1-1-goffs0"));
  CHECK(has(9, {}, "16-1-1-goffs0"));
  CHECK(has(9, {}, "16-1-1-goffs0-smallgrid"));
}

TEST_CASE("a device that no worker knows is left to this process") {
  compile_pool pool(options());
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  CHECK_FALSE(pool.can_compile(context));
  const compile_future future = pool.submit(context, {.name = "a", .text = "", .options = {}});
  CHECK(future.done());
  CHECK(future.result().what == status::unavailable);
  CHECK(pool.running() == 0);
}

/// A context that the worker of the tests compiles for.
struct fake_bench {
  fake_device fake{{.backend = "OpenCL"}};
  tune::context context = fake.device().create_context();
  compile_pool pool{{.program = LIBTUNE_FAULTY_WORKER, .workers = 2}};

  compile_future submit(compile_pool& to, const std::string& text) const {
    return to.submit(context, {.name = "a", .text = text, .options = {}});
  }
};

TEST_CASE_FIXTURE(fake_bench, "waiting for any program ends when one is done, or with the time") {
  CHECK(pool.wait_any(0, std::chrono::steady_clock::now() + 5ms) == 0);
  const auto future = submit(pool, "ECHO 1");
  CHECK(pool.wait_any(0, std::chrono::steady_clock::now() + 60s) == 1);
  CHECK(future.done());
  CHECK(pool.wait_any(0, std::chrono::steady_clock::now() + 60s) == 1);
}

TEST_CASE_FIXTURE(fake_bench, "programs differ by options, launches and text") {
  const program_source source{.name = "a", .text = "SLEEP 50", .options = {}};
  program_source with_option = source;
  with_option.options.emplace_back("-x");
  const std::vector<compile_future> futures{
      pool.submit(context, source), pool.submit(context, source), pool.submit(context, with_option),
      pool.submit(context, source, {}, {{.global = {32}, .local = {16}}})};
  for (const compile_future& future : futures) CHECK(future.result().what == status::built);
  CHECK(pool.completed() == 3);
}

TEST_CASE_FIXTURE(fake_bench, "programs that may include files differ by the current folder") {
  const program_source source{.name = "a", .text = "SLEEP 50", .options = {"-include x.h"}};
  const std::filesystem::path before = std::filesystem::current_path();
  const compile_future here = pool.submit(context, source);
  std::filesystem::current_path("/");
  const compile_future there = pool.submit(context, source);
  std::filesystem::current_path(before);
  CHECK(here.result().what == status::built);
  CHECK(there.result().what == status::built);
  CHECK(pool.completed() == 2);
}

TEST_CASE("the environment says how many workers the shared pool has") {
  {
    const scoped_environment none("LIBTUNE_WORKERS", "0");
    CHECK_FALSE(compile_pool::shared().is_available());
  }
  {
    const scoped_environment three("LIBTUNE_WORKERS", "3");
    CHECK(compile_pool::shared().workers() == 3);
    CHECK(&compile_pool::shared() == &compile_pool::shared());
  }
  {
    const scoped_environment many("LIBTUNE_WORKERS", "many");
    CHECK_THROWS_AS(compile_pool::shared(), tune::environment_error);
  }
  CHECK(compile_pool::shared().workers() >= 1);
  CHECK_FALSE(compile_pool::shared_runs());
}

TEST_CASE("a child made by fork does not use the pools of its parent, and ends without them") {
  const scoped_environment program("LIBTUNE_WORKER", LIBTUNE_FAULTY_WORKER);
  const fake_bench b;
  auto own =
      std::make_unique<compile_pool>(tune::compile_pool_options{.program = LIBTUNE_FAULTY_WORKER});
  const auto compiles = [&](compile_pool& pool) {
    return b.submit(pool, "ECHO 1").result().what == status::built;
  };
  CHECK(compiles(compile_pool::shared()));
  CHECK(compiles(*own));
  const auto is_refused = [&](compile_pool& pool) {
    try {
      return compiles(pool) && false;
    } catch (const tune::forked_process_error&) {
      return true;
    }
  };
  CHECK(in_forked_child([&] {
          const bool refused = is_refused(compile_pool::shared()) && is_refused(*own);
          own.reset();
          return refused ? 0 : 1;
        }) == 0);
  CHECK(compiles(compile_pool::shared()));
  CHECK(compiles(*own));
}

TEST_CASE("a program that begins with serve_if_worker is its own worker") {
  // This one does, in its main.
  const fake_bench b;
  compile_pool& pool = compile_pool::shared();
  // That device is only here.
  const auto result = b.submit(pool, "b").result();
  CHECK(result.what == status::unavailable);
  CHECK_MESSAGE(result.text.find("the worker does not find the device") != std::string::npos,
                result.text);
  CHECK(pool.why_unavailable().empty());
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  int workers = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (std::string child; children >> child;) {
      std::error_code gone;
      if (std::filesystem::read_symlink("/proc/" + child + "/exe", gone) == self) ++workers;
    }
  }
  CHECK(workers >= 1);
}

TEST_CASE_FIXTURE(fake_bench, "a program that cannot be its own worker says why") {
  compile_pool pool({.program = "/bin/true", .arguments = {"true"}, .workers = 1});
  CHECK(submit(pool, "b").result().what == status::unavailable);
  CHECK_FALSE(pool.is_available());
  const std::string why = pool.why_unavailable();
  CHECK_MESSAGE(why.find("exit status 0") != std::string::npos, why);
  CHECK_MESSAGE(why.find("serve_if_worker") != std::string::npos, why);
}

TEST_CASE(
    "a pool without a program or workers is unavailable, and says why if it should have any") {
  const compile_pool absent({.program = "", .absence = "it was not found"});
  CHECK_FALSE(absent.is_available());
  CHECK(absent.why_unavailable() == "it was not found");
  const compile_pool unwanted({.program = LIBTUNE_FAULTY_WORKER, .workers = 0});
  CHECK_FALSE(unwanted.is_available());
  CHECK(unwanted.why_unavailable().empty());
  const scoped_environment none("LIBTUNE_WORKERS", "0");
  CHECK(compile_pool::shared().why_unavailable().empty());
}

const tune::in_process_compiler in_process;

/// A fake device that the workers of the tests compile for.
struct compiler_bench {
  fake_device fake{{.backend = "OpenCL"}};
  tune::context context = fake.device().create_context();
  mutable compile_pool pool{{.program = LIBTUNE_FAULTY_WORKER, .workers = 2}};
  pooled_compiler compiler{in_process, pooled_compiler::use_pool::always, &pool};

  tune::program build(const std::string& text) const {
    return compiler.build(context, {.name = "a.kernel", .text = text, .options = {}});
  }
  std::size_t compiles() const { return fake.calls(fake_call::compile); }
};

TEST_CASE_FIXTURE(compiler_bench,
                  "what crashes a worker is not tried in this process, and is not called wrong") {
  const auto message_of = [&](const char* text) -> std::string {
    try {
      build(text);
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
  CHECK(compiles() == 0);
}

TEST_CASE_FIXTURE(
    compiler_bench,
    "what no worker can compile, or is not accepted from it, is compiled in this process") {
  CHECK_NOTHROW(build("REFUSE"));
  CHECK(compiles() == 1);
  CHECK_NOTHROW(build("ECHO no binary of this device"));
  CHECK(compiles() == 2);
}

TEST_CASE_FIXTURE(compiler_bench, "without workers all is compiled in this process") {
  compile_pool none({.program = ""});
  const pooled_compiler compiler(in_process, pooled_compiler::use_pool::always, &none);
  CHECK_NOTHROW(compiler.build(context, {.name = "a", .text = "CRASH", .options = {}}));
  CHECK(compiles() == 1);
}

TEST_CASE_FIXTURE(compiler_bench,
                  "one program alone is compiled here, those beside it by workers") {
  const pooled_compiler compiler(in_process, pooled_compiler::use_pool::when_busy, &pool);
  const auto build = [&](const char* text) {
    compiler.build(context, {.name = "a", .text = text, .options = {}});
  };
  build("CRASH");
  CHECK(compiles() == 1);
  CHECK(pool.running() == 0);
  const auto future = pool.submit(context, {.name = "b", .text = "ECHO 1", .options = {}});
  future.result();
  CHECK_THROWS_AS(build("CRASH"), tune::build_error);
  CHECK(compiles() == 1);
}

// The doors of this room (libtune/base/seal.hpp).

const tune::kernel_source source{"a.kernel", "KERNEL void a() {}"};

bool begins(const std::string& text, const std::string& beginning) {
  return text.find(beginning) == 0;
}

TEST_CASE("a sealed thread compiles nothing, even if the cache would have it") {
  const temporary_directory folder;
  const scoped_environment cache("LIBTUNE_CACHE", folder.path().c_str());
  const fake_device fake;
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
  const fake_device fake;
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

}  // namespace compile_pool_test
