// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/kernel/on_device.hpp"
#include "tests/store/captured_errors.hpp"

namespace cached_compiler_test {

namespace fs = std::filesystem;
using tune::binary_cache;
using tune::cached_compiler;
using tune::program_source;
using tune::testing::captured_errors;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::scoped_environment;
using tune::testing::temporary_directory;

const tune::in_process_compiler in_process;
const program_source source{.name = "a.kernel", .text = "#define wgs 4\n", .options = {"-x"}};

/// A cache in a folder of its own, before the compiler in this process.
struct bench {
  temporary_directory place;
  std::shared_ptr<const binary_cache> cache =
      std::make_shared<const binary_cache>((place / "programs").string());
  cached_compiler compiler{in_process, cache};
  fake_device fake;
  tune::context context = fake.device().create_context();

  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    if (!fs::exists(cache->folder())) return found;
    for (const auto& entry : fs::directory_iterator(cache->folder())) {
      if (entry.path().extension() == ".program") found.push_back(entry.path());
    }
    return found;
  }

  /// Lets the only entry have another binary, as intact as the one before.
  void replace_binary(const std::vector<std::byte>& binary) const {
    REQUIRE(entries().size() == 1);
    tune::binary_cache::entry replaced{.binary = binary};
    std::ifstream file(entries().front(), std::ios::binary);
    file.seekg(12);  // where the digest of the key is
    file.read(reinterpret_cast<char*>(replaced.key.data()), replaced.key.size());
    cache->save_all({&replaced, 1});
  }
};

const std::vector<std::byte> garbage(1000, std::byte{0x5A});

std::size_t compiles(const fake_device& fake) { return fake.calls(fake_call::compile); }
std::size_t loads(const fake_device& fake) { return fake.calls(fake_call::load); }

/// Another context that says it is compiled for by something else.
class other_compiler_context final : public tune::detail::context_interface {
 public:
  explicit other_compiler_context(std::shared_ptr<tune::detail::context_interface> inner)
      : context_interface(inner->device()), inner_(std::move(inner)) {}

 private:
  std::shared_ptr<tune::detail::buffer_interface> do_create_buffer(std::size_t bytes) override {
    return inner_->create_buffer(bytes);
  }
  std::shared_ptr<tune::detail::buffer_interface> do_create_managed_buffer(
      std::size_t bytes) override {
    return inner_->create_managed_buffer(bytes);
  }
  std::shared_ptr<tune::detail::buffer_interface> do_create_sub_buffer(
      const std::shared_ptr<tune::detail::buffer_interface>& parent, std::size_t offset_bytes,
      std::size_t bytes) override {
    return inner_->create_sub_buffer(parent, offset_bytes, bytes);
  }
  std::shared_ptr<tune::detail::pinned_memory_interface> do_create_pinned_memory(
      std::size_t bytes) override {
    return inner_->create_pinned_memory(bytes);
  }
  std::shared_ptr<tune::detail::queue_interface> do_create_queue(
      tune::detail::queue_settings settings) override {
    return inner_->create_queue(settings);
  }
  std::shared_ptr<tune::detail::program_interface> do_create_program(
      const program_source& text) override {
    return inner_->create_program(text);
  }
  std::shared_ptr<tune::detail::program_interface> do_create_program_from_binary(
      const std::string& name, std::span<const std::byte> binary) override {
    return inner_->create_program_from_binary(name, binary);
  }
  std::string do_compiler_identity() const override { return "another compiler"; }

  std::shared_ptr<tune::detail::context_interface> inner_;
};

/// Runs a kernel that adds one to three numbers.
std::vector<int> run_add_one(const tune::context& context, const tune::program& program) {
  auto queue = context.create_command_queue();
  const tune::buffer data = on_device::buffer_of<int>(queue, {1, 2, 3});
  auto kernel = program.create_kernel("add_one");
  kernel.set_arguments(data);
  queue.enqueue(kernel, {{3}, {1}});
  return on_device::contents<int>(queue, data);
}

const tune::kernel_source add_one{"add_one.kernel", R"(KERNEL void add_one(GLOBAL int* data) {
  data[get_global_id(0)] += step;
})"};

TEST_CASE("a program is compiled once, and loaded from then on, by other contexts too") {
  const bench b;
  for (int i = 0; i < 3; ++i) b.compiler.build(b.context, source);
  b.compiler.build(b.fake.device().create_context(), source);
  const fake_device same_kind;
  b.compiler.build(same_kind.device().create_context(), source);
  CHECK(compiles(b.fake) == 1);
  CHECK(loads(b.fake) == 3);
  CHECK(compiles(same_kind) == 0);
  CHECK(b.entries().size() == 1);
}

TEST_CASE("whatever a program depends on makes an entry of its own") {
  const bench b;
  std::size_t expected = 0;
  const auto check_it_is_another = [&](const tune::context& context, const program_source& text) {
    for (int i = 0; i < 2; ++i) b.compiler.build(context, text);
    CHECK(b.entries().size() == ++expected);
  };
  check_it_is_another(b.context, source);
  check_it_is_another(b.context, {"b.kernel", source.text, source.options});
  check_it_is_another(b.context, {source.name, "#define wgs 8\n", source.options});
  check_it_is_another(b.context, {source.name, source.text + " ", source.options});
  using words = std::vector<std::string>;
  for (const words& flags : {words{}, {"-y"}, {"-x", "-y"}, {"-y", "-x"}, {"-x -y"}, {"-x", ""}}) {
    check_it_is_another(b.context, {source.name, source.text, flags});
  }
  for (const tune::testing::fake_device_options& options :
       {tune::testing::fake_device_options{.identity = {"other", "fake platform", "1.0"}},
        {.identity = {"fake device", "other", "1.0"}},
        {.identity = {"fake device", "fake platform", "1.1"}},
        {.backend = "other"}}) {
    check_it_is_another(fake_device(options).device().create_context(), source);
  }
  check_it_is_another(tune::context(std::make_shared<other_compiler_context>(b.context.impl())),
                      source);
}

TEST_CASE("macros of tune::compile make an entry of their own") {
  const bench b;
  const tune::compile_options options{.flags = {}, .compiler = &b.compiler};
  for (const int step : {1, 2, 1}) {
    tune::compile(b.context, add_one, tune::defines().add("step", step), options);
  }
  tune::compile(b.context, add_one, tune::defines().add("step2", 1), options);
  CHECK(b.entries().size() == 3);
  CHECK(compiles(b.fake) == 3);
}

TEST_CASE("a binary that the driver rejects is compiled again once, replaced, and logged") {
  const scoped_environment debug("LIBTUNE_LOG", "debug");
  const bench b;
  b.compiler.build(b.context, source);
  b.replace_binary(garbage);
  captured_errors errors;
  b.compiler.build(b.context, source);
  CHECK(compiles(b.fake) == 2);
  CHECK(errors.count("\n") == 1);
  CHECK(errors.count("'a.kernel' is compiled again") == 1);
  b.compiler.build(b.context, source);
  CHECK(compiles(b.fake) == 2);
  CHECK(loads(b.fake) == 2);
  CHECK(errors.count("\n") == 1);
}

TEST_CASE("a rejected binary is forgotten even if its source does not compile any more") {
  const bench b;
  b.compiler.build(b.context, source);
  b.replace_binary(garbage);
  b.fake.fail_next(fake_call::compile);
  CHECK_THROWS_AS(b.compiler.build(b.context, source), tune::build_error);
  CHECK(b.entries().empty());
}

TEST_CASE("a driver that cannot load anything does not keep programs from being made") {
  const bench b;
  b.compiler.build(b.context, source);
  for (const std::size_t nth : {1, 2}) b.fake.fail_next(fake_call::load, nth);
  CHECK_NOTHROW(b.compiler.build(b.context, source));
  CHECK_NOTHROW(b.compiler.build(b.context, source));
  CHECK(compiles(b.fake) == 3);
  CHECK(b.entries().size() == 1);
}

TEST_CASE("a damaged entry is compiled again once and replaced") {
  const bench b;
  b.compiler.build(b.context, source);
  fs::resize_file(b.entries().front(), 100);
  b.compiler.build(b.context, source);
  CHECK(compiles(b.fake) == 2);
  b.compiler.build(b.context, source);
  CHECK(compiles(b.fake) == 2);
}

TEST_CASE("what fails to compile is not remembered") {
  const bench b;
  b.fake.fail_next(fake_call::compile);
  CHECK_THROWS_AS(b.compiler.build(b.context, source), tune::build_error);
  CHECK(b.entries().empty());
  CHECK_NOTHROW(b.compiler.build(b.context, source));
  CHECK(b.entries().size() == 1);
}

TEST_CASE("text whose files are not known is always compiled") {
  const bench b;
  for (const program_source& text : {program_source{"a.kernel", "#include \"b.h\"\n", {}},
                                     {"a.kernel", "int a;\n", {"-include", "b.h"}}}) {
    const std::size_t before = compiles(b.fake);
    for (int i = 0; i < 2; ++i) b.compiler.build(b.context, text);
    CHECK(compiles(b.fake) == before + 2);
  }
  CHECK(b.entries().empty());
}

TEST_CASE("without a cache everything is compiled") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  const cached_compiler compiler(in_process, nullptr);
  compiler.build(context, source);
  compiler.build(context, source);
  CHECK(compiles(fake) == 2);
  CHECK(loads(fake) == 0);
}

TEST_CASE("a cache without a usable folder costs one warning and nothing else") {
  const temporary_directory place;
  std::ofstream(place / "file") << "text";
  const cached_compiler compiler(
      in_process, std::make_shared<const binary_cache>((place / "file" / "programs").string()));
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  captured_errors errors;
  for (int i = 0; i < 3; ++i) CHECK_NOTHROW(compiler.build(context, source));
  CHECK(compiles(fake) == 3);
  CHECK(errors.count("\n") == 1);
}

LIBTUNE_DEVICE_TEST_CASE("a cached program does what a compiled one does", device) {
  const bench b;
  const tune::context context = device.create_context();
  const tune::compile_options options{.flags = {}, .compiler = &b.compiler};
  for (int i = 0; i < 2; ++i) {
    for (const int step : {1, 10}) {
      const auto program =
          tune::compile(context, add_one, tune::defines().add("step", step), options);
      CHECK(run_add_one(context, program) == std::vector{1 + step, 2 + step, 3 + step});
    }
  }
  CHECK(b.entries().size() == 2);
}

LIBTUNE_DEVICE_TEST_CASE("a binary that a real driver rejects is compiled again and replaced",
                         device) {
  const bench b;
  const tune::context context = device.create_context();
  const auto build = [&] {
    return tune::compile(context, add_one, tune::defines().add("step", 1),
                         {.flags = {}, .compiler = &b.compiler});
  };
  build();
  b.replace_binary(garbage);
  CHECK(run_add_one(context, build()) == std::vector{2, 3, 4});
  REQUIRE(b.entries().size() == 1);
  CHECK(fs::file_size(b.entries().front()) != garbage.size() + tune::binary_cache::header_bytes);
  CHECK(run_add_one(context, build()) == std::vector{2, 3, 4});
}

}  // namespace cached_compiler_test
