// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/inclusion.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "libtune/device/opencl/include_mirror.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace inclusion_test {

namespace fs = std::filesystem;
using tune::may_include;
using tune::opencl::include_mirror;
using tune::testing::temporary_directory;

TEST_CASE("no way to write a directive that reads a file is overlooked") {
  for (const char* text : {"#include \"x.h\"\n",
                           "  # include <x.h>\n",
                           "%:include \"x.h\"\n",
                           "%: include \"x.h\"\n",
                           "#/**/include \"x.h\"\n",
                           "#/* two\nlines */ include \"x.h\"\n",
                           "# /**/\t/*/*/include FILE\n",
                           "#\\\ninclude \"x.h\"\n",
                           "#inc\\\nlude \"x.h\"\n",
                           "%\\\n:include \"x.h\"\n",
                           "#inc\\ \t\r\nlude \"x.h\"\n",
                           "#/\\\n**/include \"x.h\"\n",
                           "?\?=include \"x.h\"\n",
                           "#?\?/\ninclude \"x.h\"\n",
                           "#\vinclude \"x.h\"\n",
                           "#include_next <x.h>\n",
                           "#import <x.h>\n",
                           "#__include_macros \"x.h\"\n",
                           "int a[] = {\n#embed \"x\"\n};\n",
                           "#if __has_include(\"x.h\")\n",
                           "#if __has_\\\ninclude(\"x.h\")\n",
                           R"(__asm(".incbin \"x\"");)"}) {
    CAPTURE(text);
    CHECK(may_include({"a", text, {}}));
  }
  for (const char* option :
       {"-include x.h", "-w -include x.h", "--pre-include=x.h", "-imacros", "--use-pch=x"}) {
    CAPTURE(option);
    CHECK(may_include({"a", "", {option}}));
  }
}

TEST_CASE("other directives and words include nothing") {
  for (const char* text :
       {"#define include 1\n#pragma unroll\nint include;\n", "# /* nothing */\ninclude\n",
        "#if 5 %include\n#endif\n", "a = b % include;\n", "// we include nothing, nor embed it",
        "#", "%:", "\\", "?\?/"}) {
    CAPTURE(text);
    CHECK_FALSE(may_include({"a", text, {"-I/somewhere", "--include-path=/else"}}));
  }
}

TEST_CASE("files that change while a compiler reads them are not known") {
  const temporary_directory place;
  std::ofstream(place / "x.h") << "int x;";
  const std::vector<std::string> paths{(place / "x.h").string(), (place / "." / "x.h").string()};
  const auto now = fs::file_time_type::clock::now();
  const auto files = tune::read_included(paths, now);
  REQUIRE(files);
  REQUIRE(files->size() == 1);
  CHECK(files->front().digest.size() == 64);
  CHECK(tune::read_again(*files) == files);
  fs::last_write_time(place / "x.h", now + std::chrono::seconds(1));
  CHECK_FALSE(tune::read_included(paths, now));
  fs::remove(place / "x.h");
  CHECK_FALSE(tune::read_again(*files));
}

struct originals {
  temporary_directory place;

  originals() {
    for (const char* name : {"a/x.h", "a/y.h", "b/x.h", "b/z.h", "c/d/z.h"}) {
      fs::create_directories((place / name).parent_path());
      std::ofstream(place / name) << name;
    }
  }
  std::string mirrored(const include_mirror& mirror, const std::string& name) const {
    const std::string folder = mirror.source().options.at(0).substr(2);
    const fs::path root = folder.substr(0, folder.find(place.path().string()));
    return tune::read_text(root / (place / name).relative_path()).value_or("none");
  }
};

TEST_CASE("a mirror has every file of a name that was asked for") {
  const originals here;
  include_mirror mirror({"k", "text", {"-Ia", "-w -I b"}}, here.place.path().string());
  CHECK(here.mirrored(mirror, "a/x.h") == "none");
  CHECK_FALSE(mirror.add_missing("k:1:2: error: expected ';'"));
  CHECK_FALSE(mirror.add_missing("k:1:10: fatal error: 'no.h' file not found\n"));
  CHECK(mirror.add_missing("error: k:1:10: 'x.h' file not found\n"));
  CHECK(here.mirrored(mirror, "a/x.h") == "a/x.h");
  CHECK(here.mirrored(mirror, "b/x.h") == "b/x.h");
  CHECK_FALSE(mirror.add_missing("error: k:1:10: 'x.h' file not found\n"));
  CHECK(mirror.add_missing("k(3): catastrophic error: cannot open source file \"../c/d/z.h\"\n"));
  CHECK(here.mirrored(mirror, "c/d/z.h") == "c/d/z.h");
  CHECK(mirror.add_missing("k:3:1: fatal error: 'z.h' file not found"));
  CHECK(here.mirrored(mirror, "b/z.h") == "b/z.h");
  CHECK(mirror.files().size() == 4);
  CHECK(mirror.is_reliable());
}

TEST_CASE("a mirror says where files escape it") {
  const temporary_directory place;
  for (const char* text :
       {"#if __has_include(<x.h>)", "#include \"/x.h\"", "#include </x.h>", "#embed \"x\""}) {
    CAPTURE(text);
    CHECK_FALSE(include_mirror({"k", text, {}}, place.path().string()).is_reliable());
    CHECK_FALSE(include_mirror({"k", "", {}, {{"h", text}}}, place.path().string()).is_reliable());
  }
}

}  // namespace inclusion_test
