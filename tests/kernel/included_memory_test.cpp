// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/included_memory.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace included_memory_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using tune::kernel_header;
using tune::kernel_source;

/// One worker for all tests, which takes long to start.
tune::compile_pool& shared_worker() {
  static auto* const pool =
      new tune::compile_pool({.program = tune::detail::find_worker_program(), .workers = 1});
  return *pool;
}

/// Compiles in a worker, as OpenCL needs it to tell the files, and counts.
class counting_compiler final : public tune::compiler {
 public:
  int count() const { return count_; }

 private:
  tune::program do_build(const tune::context& context,
                         const tune::program_source& source) const override {
    ++count_;
    return pooled_.build(context, source);
  }

  tune::in_process_compiler inner_;
  tune::pooled_compiler pooled_{inner_, tune::pooled_compiler::use_pool::always, &shared_worker()};
  mutable std::atomic<int> count_ = 0;
};

struct bench {
  explicit bench(const tune::context& made) : context(made) {}

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((place / name).parent_path());
    std::ofstream(place / name) << text;
  }
  std::string path(const std::string& name) const {
    return (place / name).lexically_normal().string();
  }
  /// @param compiler  null: the one that counts, with the cache
  tune::program compile(const std::string& text, const tune::compiler* compiler = nullptr) const {
    const kernel_source source{"k.kernel", text + "\nKERNEL void k(GLOBAL int* a) { a[0] = X; }",
                               headers};
    return tune::compile(context, source, {},
                         {.flags = {"-I" + path("a"), "-I" + path("b")},
                          .compiler = compiler != nullptr ? compiler : &cached});
  }
  std::vector<std::string> files(const std::string& text) const {
    std::vector<std::string> names;
    const tune::program made = compile(text, &counting);
    REQUIRE(made.included().has_value());
    for (const auto& file : *made.included()) {
      names.push_back(fs::path(file.path).lexically_relative(place.path()).string());
    }
    return names;
  }

  temporary_directory place;
  scoped_environment folder{"LIBTUNE_CACHE", (place / "programs").c_str()};
  tune::context context;
  std::vector<kernel_header> headers;
  counting_compiler counting;
  tune::cached_compiler cached{counting, tune::program_cache()};
};

/// CUDA compiles without a device; OpenCL needs one.
void for_each_api(const std::function<void(bench&)>& test) {
  const auto run = [&](const tune::context& context) {
    bench b(context);
    test(b);
  };
  for (const tune::device& device : test_devices()) {
    if (device.info().backend == "OpenCL") run(device.create_context());
  }
  for_each_compile_target("cuda sm_90", run);
}

using names = std::vector<std::string>;

TEST_CASE("the compiler tells which files it reads, of several of one name the right ones") {
  for_each_api([](bench& b) {
    b.write("a/y.h", "#include \"x.h\"\n");
    b.write("a/x.h", "#define A 1\n");
    b.write("b/z.h", "#include \"x.h\"\n#define X (A + B)\n");
    b.write("b/x.h", "#define B 2\n");
    CHECK(b.files("#include <y.h>\n#include \"z.h\"") == names{"a/x.h", "a/y.h", "b/x.h", "b/z.h"});
  });
}

TEST_CASE("neither spelling nor comments nor macros hide a file from the cache") {
  for_each_api([](bench& b) {
    b.write("a/x.h", "#define X 1\n");
    for (const char* text : {"%:include \"x.h\"", "/* c */ #include \"x.h\"", "#/**/include <x.h>",
                             "#inc\\\nlude \"x.h\"", "#define FILE \"x.h\"\n#include FILE"}) {
      CAPTURE(text);
      CHECK(b.files(text) == names{"a/x.h"});
    }
    for (const char* text :
         {"// #include \"x.h\"", "/*\n#include \"x.h\"\n*/", "#if 0\n#include \"x.h\"\n#endif"}) {
      CAPTURE(text);
      CHECK(b.files(std::string("#define X 2\n") + text).empty());
    }
    CHECK_THROWS_WITH_AS(b.compile("#include \"no.h\"", &b.counting), doctest::Contains("no.h"),
                         tune::build_error);
  });
}

TEST_CASE("a kept binary serves as long as every file is as it was") {
  for_each_api([](bench& b) {
    const std::string text = "#include \"x.h\"";
    b.write("a/x.h", "#include \"y.h\"\n");
    b.write("a/y.h", "#define X 1\n");
    b.compile(text);
    b.compile(text);
    CHECK(b.counting.count() == 1);
    b.write("a/y.h", "#define X 22\n");
    b.compile(text);
    CHECK(b.counting.count() == 2);
    b.write("a/y.h", "#define X 1\n");
    b.compile(text);
    CHECK(b.counting.count() == 2);
    fs::remove(b.place / "a/y.h");
    CHECK_THROWS_AS(b.compile(text), tune::build_error);
    b.write("b/y.h", "#define X 1\n");
    b.compile(text);
    CHECK(b.counting.count() == 4);
  });
}

TEST_CASE("a file that appears in a folder that is searched first is read") {
  for_each_api([](bench& b) {
    const std::string text = "#include \"p/x.h\"\n#include \"z.h\"";
    b.write("a/other.h", "#define X 4\n");
    b.write("b/p/x.h", "#include \"../z.h\"\n");
    b.write("b/z.h", "#define X 2\n");
    b.compile(text);
    b.compile(text);
    CHECK(b.counting.count() == 1);
    b.write("a/z.h", "#pragma once\n");
    b.compile(text);
    CHECK(b.counting.count() == 2);
    b.write("a/p/x.h", "#define X 3\n");
    b.compile(text);
    CHECK(b.counting.count() == 3);
    b.compile(text);
    CHECK(b.counting.count() == 3);
    fs::remove_all(b.place / "a");
    b.compile(text);
    CHECK(b.counting.count() == 3);
  });
}

TEST_CASE("headers that are handed in as texts are a part of the program") {
  for_each_api([](bench& b) {
    b.write("a/x.h", "#error the text comes before the file\n");
    b.headers = {{"x.h", "#include \"p/y.h\"\n#include \"q/y.h\"\n#define X (P + Q)\n"},
                 {"p/y.h", "#include \"p/z.h\"\n"},
                 {"p/z.h", "#define P 1\n"},
                 {"q/y.h", "#include \"q/z.h\"\n"},
                 {"q/z.h", "#define Q 2\n"}};
    CHECK(b.files("#include \"x.h\"").empty());
    b.compile("#include \"x.h\"");
    b.compile("#include \"x.h\"");
    CHECK(b.counting.count() == 2);
    b.headers.back().text = "#define Q 3\n";
    b.compile("#include \"x.h\"");
    CHECK(b.counting.count() == 3);
    b.headers.back().text = "#define Q $\n";
    CHECK_THROWS_AS(b.compile("#include \"x.h\""), tune::build_error);
  });
}

TEST_CASE("the digest of a program that includes files is known once it has been compiled") {
  for_each_api([](bench& b) {
    b.write("a/x.h", "#define X 1\n");
    const auto noted = [&] {
      const tune::compile_scope scope;
      b.compile("#include \"x.h\"");
      return scope.programs().at(0);
    };
    const std::string first = noted();
    CHECK(first.size() == 33);
    CHECK(noted() == first);
    b.write("a/x.h", "#define X 2\n");
    CHECK(noted() != first);
    const tune::compile_scope looking({.refuses_all = true, .learns_files = true});
    b.write("a/x.h", "#define X 1\n");
    CHECK_THROWS_AS(b.compile("#include \"x.h\""), tune::build_error);
    CHECK(looking.programs().at(0) == first);
  });
}

TEST_CASE("headers of the toolkit belong to the compiler, and need no option") {
  for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    const bench b(context);
    if (context.compiler_identity().find(" headers ") == std::string::npos) {
      CHECK_THROWS_WITH_AS(b.compile("#include <cuda_fp16.h>"), doctest::Contains("CUDA_HOME"),
                           tune::build_error);
      return;
    }
    CHECK(b.files("#include <cuda_fp16.h>\n#include <mma.h>\n#define X 1").empty());
  });
}

TEST_CASE("a header has a name that stays below the folders that are searched") {
  for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    bench b(context);
    for (const char* name : {"", "/x.h", "../x.h", "a/../../x.h"}) {
      b.headers = {{name, ""}};
      CHECK_THROWS_WITH_AS(b.compile("#define X 1"), doctest::Contains("relative path"),
                           tune::argument_error);
    }
    b.headers = {{"x.h", ""}, {"x.h", ""}};
    CHECK_THROWS_AS(b.compile("#define X 1"), tune::argument_error);
  });
}

}  // namespace included_memory_test
