// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_cache.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/kernel/on_device.hpp"
#include "tests/store/captured_errors.hpp"

namespace program_cache_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using namespace tune;

tune::detail::sha256_digest key(unsigned char n) {
  tune::detail::sha256_digest made{};
  made[0] = static_cast<std::byte>(n);
  return made;
}

std::vector<std::byte> bytes(std::size_t count) { return std::vector<std::byte>(count); }

TEST_CASE("what was added is found, until it is removed") {
  tune::recent_binaries recent;
  CHECK(recent.find(key(1)) == nullptr);
  recent.add(key(1), bytes(3));
  REQUIRE(recent.find(key(1)) != nullptr);
  CHECK(recent.find(key(1))->size() == 3);
  recent.remove(key(1));
  recent.remove(key(2));
  CHECK(recent.find(key(1)) == nullptr);
}

TEST_CASE("the one used longest ago makes room") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(4));
  recent.add(key(2), bytes(4));
  recent.find(key(1));
  recent.add(key(3), bytes(4));
  CHECK(recent.find(key(1)) != nullptr);
  CHECK(recent.find(key(2)) == nullptr);
  CHECK(recent.find(key(3)) != nullptr);
}

TEST_CASE("adding again replaces, and counts once") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(6));
  recent.add(key(1), bytes(5));
  recent.add(key(2), bytes(5));
  CHECK(recent.find(key(1))->size() == 5);
  CHECK(recent.find(key(2)) != nullptr);
}

TEST_CASE("what is larger than the cap is not kept, and throws nothing else out") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(6));
  recent.add(key(2), bytes(11));
  CHECK(recent.find(key(2)) == nullptr);
  CHECK(recent.find(key(1)) != nullptr);
}

TEST_CASE("a binary that is held outlives its place in the list") {
  tune::recent_binaries recent(4);
  recent.add(key(1), bytes(4));
  const auto held = recent.find(key(1));
  recent.add(key(2), bytes(4));
  CHECK(recent.find(key(1)) == nullptr);
  CHECK(held->size() == 4);
}

TEST_CASE("LIBTUNE_CACHE names the folder") {
  const scoped_environment setting("LIBTUNE_CACHE", "/tmp/a folder");
  const auto cache = program_cache();
  REQUIRE(cache);
  CHECK(cache->folder() == "/tmp/a folder");
  CHECK(program_cache() == cache);
  const scoped_environment another("LIBTUNE_CACHE", "/tmp/another");
  CHECK(program_cache()->folder() == "/tmp/another");
  CHECK(cache->folder() == "/tmp/a folder");
}

TEST_CASE("the root folder is no cache") {
  for (const char* root : {"/", "//", "/./", "/tmp/.."}) {
    const scoped_environment variable("LIBTUNE_CACHE", root);
    CHECK_THROWS_WITH_AS(program_cache(), doctest::Contains("LIBTUNE_CACHE"),
                         tune::environment_error);
  }
}

TEST_CASE("LIBTUNE_CACHE turns the cache off") {
  const scoped_environment setting("LIBTUNE_CACHE", "off");
  CHECK_FALSE(program_cache());
}

TEST_CASE("by default the cache is in the user's cache folder, if there is one") {
  const scoped_environment unset("LIBTUNE_CACHE", nullptr);
  const scoped_environment cache("XDG_CACHE_HOME", "/home/user/cache");
  CHECK(program_cache()->folder() == "/home/user/cache/libtune/programs");
  const scoped_environment no_cache("XDG_CACHE_HOME", nullptr);
  const scoped_environment home("HOME", "/home/user");
  CHECK(program_cache()->folder() == "/home/user/.cache/libtune/programs");
  const scoped_environment no_home("HOME", nullptr);
  CHECK_FALSE(program_cache());
}

TEST_CASE("tune::compile uses the cache unless another compiler is given") {
  const temporary_directory place;
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  const tune::kernel_source source{"a.kernel", "int a;\n"};
  {
    const scoped_environment setting("LIBTUNE_CACHE", (place / "programs").c_str());
    tune::compile(context, source);
    tune::compile(context, source);
    CHECK(fake.calls(fake_call::compile) == 1);
    CHECK(fake.calls(fake_call::load) == 1);
    const tune::in_process_compiler in_process;
    tune::compile(context, source, {}, {.flags = {}, .compiler = &in_process});
    CHECK(fake.calls(fake_call::compile) == 2);
  }
  const scoped_environment off("LIBTUNE_CACHE", "off");
  tune::compile(context, source);
  CHECK(fake.calls(fake_call::compile) == 3);
  CHECK(fake.calls(fake_call::load) == 1);
}

program_source source_of(int number) {
  return {.name = "a.kernel", .text = "#define wgs " + std::to_string(number), .options = {}};
}

std::vector<std::byte> binary_of(int number) {
  return std::vector<std::byte>(100, static_cast<std::byte>(number));
}

struct bench {
  temporary_directory place;
  scoped_environment cache{"LIBTUNE_CACHE", (place / "programs").c_str()};
  fake_device fake;
  tune::context context = fake.device().create_context();
};

TEST_CASE_FIXTURE(bench, "a binary is found again at once, and on disk when it is written") {
  CHECK_FALSE(find_cached_binary(context, source_of(1)).has_value());
  const tune::compile_scope searching({.keeps_no_binaries = true});
  cache_binary(context, source_of(1), binary_of(1));
  CHECK(find_cached_binary(context, source_of(1)) == binary_of(1));
  flush_cached_binaries();
  CHECK(tune::program_cache()->load(tune::program_key(context, source_of(1))) == binary_of(1));
}

TEST_CASE_FIXTURE(bench, "hundreds of binaries are written while more come") {
  for (int i = 0; i < 300; ++i) cache_binary(context, source_of(i), binary_of(i));
  flush_cached_binaries();
  for (int i = 0; i < 300; ++i) {
    CHECK(tune::program_cache()->load(tune::program_key(context, source_of(i))) == binary_of(i));
  }
}

TEST_CASE_FIXTURE(bench, "what is written to another folder waits for its turn") {
  const temporary_directory other;
  cache_binary(context, source_of(1), binary_of(1));
  const auto first = tune::program_cache();
  const scoped_environment cache("LIBTUNE_CACHE", (other / "programs").c_str());
  cache_binary(context, source_of(2), binary_of(2));
  flush_cached_binaries();
  CHECK(first->load(tune::program_key(context, source_of(1))).has_value());
  CHECK_FALSE(first->load(tune::program_key(context, source_of(2))).has_value());
  CHECK(tune::program_cache()->load(tune::program_key(context, source_of(2))).has_value());
}

TEST_CASE_FIXTURE(bench,
                  "text whose files are not known is not cached, and nothing is without a cache") {
  const program_source including{.name = "a", .text = "#include \"b.h\"\n", .options = {}};
  cache_binary(context, including, binary_of(1));
  CHECK_FALSE(find_cached_binary(context, including).has_value());
  const scoped_environment off("LIBTUNE_CACHE", "off");
  cache_binary(context, source_of(1), binary_of(1));
  CHECK_FALSE(find_cached_binary(context, source_of(1)).has_value());
}

const tune::in_process_compiler in_process;
const program_source source{.name = "a.kernel", .text = "#define wgs 4\n", .options = {"-x"}};

/// A cache in a folder of its own, before the compiler in this process.
struct compiler_bench {
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

TEST_CASE_FIXTURE(compiler_bench,
                  "a program is compiled once, and loaded from then on, by other contexts too") {
  for (int i = 0; i < 3; ++i) compiler.build(context, source);
  compiler.build(fake.device().create_context(), source);
  const fake_device same_kind;
  compiler.build(same_kind.device().create_context(), source);
  CHECK(compiles(fake) == 1);
  CHECK(loads(fake) == 3);
  CHECK(compiles(same_kind) == 0);
  CHECK(entries().size() == 1);
}

TEST_CASE("whatever a program depends on makes an entry of its own") {
  const compiler_bench b;
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
  for (const fake_device_options& options :
       {fake_device_options{.identity = {"other", "fake platform", "1.0"}},
        {.identity = {"fake device", "other", "1.0"}},
        {.identity = {"fake device", "fake platform", "1.1"}},
        {.backend = "other"}}) {
    check_it_is_another(fake_device(options).device().create_context(), source);
  }
  check_it_is_another(tune::context(std::make_shared<other_compiler_context>(b.context.impl())),
                      source);
}

TEST_CASE_FIXTURE(compiler_bench, "macros of tune::compile make an entry of their own") {
  const tune::compile_options options{.flags = {}, .compiler = &compiler};
  for (const int step : {1, 2, 1}) {
    tune::compile(context, add_one, tune::defines().add("step", step), options);
  }
  tune::compile(context, add_one, tune::defines().add("step2", 1), options);
  CHECK(entries().size() == 3);
  CHECK(compiles(fake) == 3);
}

TEST_CASE("a binary that the driver rejects is compiled again once, replaced, and logged") {
  const scoped_environment debug("LIBTUNE_LOG", "debug");
  const compiler_bench b;
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

TEST_CASE_FIXTURE(compiler_bench,
                  "a rejected binary is forgotten even if its source does not compile any more") {
  compiler.build(context, source);
  replace_binary(garbage);
  fake.fail_next(fake_call::compile);
  CHECK_THROWS_AS(compiler.build(context, source), tune::build_error);
  CHECK(entries().empty());
}

TEST_CASE_FIXTURE(compiler_bench,
                  "a driver that cannot load anything does not keep programs from being made") {
  compiler.build(context, source);
  for (const std::size_t nth : {1, 2}) fake.fail_next(fake_call::load, nth);
  CHECK_NOTHROW(compiler.build(context, source));
  CHECK_NOTHROW(compiler.build(context, source));
  CHECK(compiles(fake) == 3);
  CHECK(entries().size() == 1);
}

TEST_CASE_FIXTURE(compiler_bench, "a damaged entry is compiled again once and replaced") {
  compiler.build(context, source);
  fs::resize_file(entries().front(), 100);
  compiler.build(context, source);
  CHECK(compiles(fake) == 2);
  compiler.build(context, source);
  CHECK(compiles(fake) == 2);
}

TEST_CASE_FIXTURE(compiler_bench, "what fails to compile is not remembered") {
  fake.fail_next(fake_call::compile);
  CHECK_THROWS_AS(compiler.build(context, source), tune::build_error);
  CHECK(entries().empty());
  CHECK_NOTHROW(compiler.build(context, source));
  CHECK(entries().size() == 1);
}

TEST_CASE_FIXTURE(compiler_bench, "text whose files are not known is always compiled") {
  for (const program_source& text : {program_source{"a.kernel", "#include \"h\"\n", {}},
                                     {"a.kernel", "int a;\n", {"-include", "h"}}}) {
    const std::size_t before = compiles(fake);
    for (int i = 0; i < 2; ++i) compiler.build(context, text);
    CHECK(compiles(fake) == before + 2);
  }
  CHECK(entries().empty());
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
  const compiler_bench b;
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
  const compiler_bench b;
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

}  // namespace program_cache_test
