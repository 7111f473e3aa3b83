// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/kernel/compile.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/testing/refusals.hpp"

namespace tune::testing {
namespace {

const kernel_source broken{"broken.kernel",
                           "KERNEL void fine(GLOBAL int* data) {\n"
                           "  data[0] = 1;\n"
                           "}\n"
                           "#error this_line_is_broken\n"};

void build_log(const device& device) {
  const context context = device.create_context();
  try {
    compile(context, broken, defines().add("width", 3));
    FAIL_CHECK("a broken kernel compiled");
  } catch (const build_error& failure) {
    const std::string text = failure.what();
    INFO(text);
    CHECK(failure.log().find("this_line_is_broken") != std::string::npos);
    CHECK(text.find("broken.kernel:4: #error this_line_is_broken") != std::string::npos);
    CHECK(text.find("width=3") != std::string::npos);
    CHECK(text.find(device.name()) != std::string::npos);
  }
  CHECK_NOTHROW(build_conformance_program(context));
}

void uncooked_build_log(const device& device) {
  const context context = device.create_context();
  try {
    context.create_program({.name = "raw", .text = "#error raw_failure\n", .options = {}});
    FAIL_CHECK("a broken program was made");
  } catch (const build_error& failure) {
    CHECK(failure.log().find("raw_failure") != std::string::npos);
    CHECK(std::string(failure.what()).find(failure.log()) != std::string::npos);
  }
}

void unknown_kernel(const device& device) {
  const program program = build_conformance_program(device.create_context());
  for (const char* part : {"no_such_kernel", " add", " scalars"}) {
    CHECK_THROWS_WITH_AS(program.create_kernel("no_such_kernel"), doctest::Contains(part),
                         device_error);
  }
}

void kernel_facts(const device& device) {
  const program program = build_conformance_program(device.create_context());
  const kernel scalars = program.create_kernel("scalars");
  CHECK(scalars.info().name == "scalars");
  CHECK(scalars.info().argument_count == 6);
  CHECK(scalars.info().max_work_group_size >= 1);
  CHECK(scalars.info().max_work_group_size <= device.max_work_group_size());
  const std::size_t local = program.create_kernel("reverse").info().local_memory_bytes;
  CHECK((local == 0 || local >= reverse_group * sizeof(int)));  // 0: the driver does not tell
}

void binaries(const device& device) {
  conformance_bench bench(device);
  const std::vector<std::byte> binary = build_conformance_program(bench.context, 10).binary();
  if (binary.empty()) return;
  const program loaded = bench.context.create_program_from_binary("conformance.kernel", binary);
  kernel add = loaded.create_kernel("add");
  const buffer data = bench.integers(64, 1);
  add.set_arguments(data, 2);
  bench.queue.enqueue(add, {{64}, {16}});
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 21));
  CHECK_FALSE(loaded.binary().empty());

  const context another = device.create_context();
  CHECK_NOTHROW(another.create_program_from_binary("again", binary).create_kernel("scalars"));
}

void rejected_binaries(const device& device) {
  const context context = device.create_context();
  const std::vector<std::byte> empty;
  const std::vector<std::byte> garbage(1000, std::byte{0x5A});
  for (const auto* binary : {&empty, &garbage}) {
    check_refused([&] { context.create_program_from_binary("bad.kernel", *binary); },
                  device_failure::invalid_binary, {"bad.kernel"});
  }
  CHECK_NOTHROW(build_conformance_program(context));
}

void compiler_identities(const device& device) {
  const std::string identity = device.create_context().compiler_identity();
  CHECK_FALSE(identity.empty());
  CHECK(device.create_context().compiler_identity() == identity);
}

constexpr requirement requirements[] = {
    {"a kernel that does not compile says where, on what and with which macros", build_log},
    {"a program that does not compile carries the compiler's log", uncooked_build_log},
    {"a kernel that the program lacks is an error that names it, and those that are there",
     unknown_kernel},
    {"a kernel knows its name, arguments, work group and local memory", kernel_facts},
    {"a program is made from another's binary", binaries},
    {"a binary that is none is refused as such, and harms nothing", rejected_binaries},
    {"a context says what compiles for it, always the same", compiler_identities},
};

}  // namespace

std::span<const requirement> program_requirements() { return requirements; }

}  // namespace tune::testing
