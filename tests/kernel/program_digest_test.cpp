// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_digest.hpp"

#include <doctest/doctest.h>
#include <fstream>
#include <set>
#include <string>

#include "libtune/testing/temporary_directory.hpp"

namespace program_digest_test {

using tune::program_digest;

TEST_CASE("programs that differ in name, text or options have different digests") {
  std::set<std::string> digests;
  for (const tune::program_source& source :
       {tune::program_source{"a", "b", {}}, tune::program_source{"ab", "", {}},
        tune::program_source{"a", "b", {"-O1"}}, tune::program_source{"a", "b", {"-O1", "-g"}},
        tune::program_source{"a", "b", {"-O1-g"}}, tune::program_source{"a", "c", {}}}) {
    const auto digest = program_digest(source);
    REQUIRE(digest);
    CHECK(digest->size() == 32);
    digests.insert(*digest);
  }
  CHECK(digests.size() == 6);
}

TEST_CASE("the digest of a program is always the same") {
  // Databases hold such digests.
  CHECK(*program_digest({"a", "b", {"-O1"}}) == "0bfe5acfc98136e21cec89d589d27ba7");
}

TEST_CASE("a program that includes files has no digest") {
  CHECK_FALSE(program_digest({"a", "#include \"x.h\"\n", {}}));
  CHECK_FALSE(program_digest({"a", "  # include <x.h>\n", {}}));
  CHECK_FALSE(program_digest({"a", "", {"-include x.h"}}));
  CHECK_FALSE(program_digest({"a", "", {"-w -include x.h"}}));
  CHECK_FALSE(program_digest({"a", "", {"--pre-include=x.h"}}));
  CHECK_FALSE(program_digest({"a", "", {"-imacros", "x.h"}}));
  CHECK_FALSE(program_digest({"a", "", {"--use-pch=x"}}));
  CHECK(program_digest({"a", "// we include nothing", {"-I/somewhere", "--include-path=/else"}}));
}

TEST_CASE("a directive that includes is found however it is written") {
  for (const char* text : {"%:include \"x.h\"\n",
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
                           "__asm(\".incbin \\\"x\\\"\");"}) {
    CAPTURE(text);
    CHECK_FALSE(program_digest({"a", text, {}}));
  }
}

TEST_CASE("other directives and words leave a program its digest") {
  for (const char* text :
       {"#define include 1\n#pragma unroll\nint include;\n", "# /* nothing */\ninclude\n",
        "#if 5 %include\n#endif\n", "a = b % include;\n", "#/* include", "#", "%:", "\\", "?\?/"}) {
    CAPTURE(text);
    CHECK(program_digest({"a", text, {}}));
  }
}

struct source_folder {
  tune::testing::temporary_directory folder;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
  }
  std::string digest(const std::string& text) const {
    return tune::watched_digest({"a", text, {"-w -I", folder.path().string()}});
  }
};

TEST_CASE("the watched digest of a program follows the files that it includes") {
  const source_folder here;
  const std::string text = "# /**/ include \"a.h\"\n#include <cuda_own.h>\n";
  here.write("a.h", "#include \"b.h\"\n#include \"a.h\"\n");
  here.write("b.h", "int b;");
  const std::string first = here.digest(text);
  CHECK(first.size() == 33);
  CHECK(first == here.digest(text));
  here.write("b.h", "int c;");
  CHECK(first != here.digest(text));
  CHECK(here.digest("no files") ==
        *program_digest({"a", "no files", {"-w -I", here.folder.path().string()}}));
}

TEST_CASE("the watched digest is unknown where the files cannot be found out") {
  const source_folder here;
  here.write("a.h", "#include FILE\n");
  here.write("large.h", std::string(std::size_t{2} << 20, ' '));
  for (const char* text :
       {"#include FILE\n", "#include_next <x.h>\n", "#import <x.h>\n", "#include \"a.h\"\n",
        "#if __has_include(\"x.h\")\n", "#embed \"x\"\n", "#include <large.h>\n", "#include \"x"}) {
    CAPTURE(text);
    CHECK(here.digest(text) == "?");
  }
  CHECK(tune::watched_digest({"a", "", {"-include x.h"}}) == "?");
}

}  // namespace program_digest_test
