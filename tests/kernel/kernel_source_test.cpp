// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/kernel_source.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"

namespace kernel_source_test {

TEST_CASE("a line directive names line and file") {
  CHECK(tune::line_directive(12, "a.kernel") == "#line 12 \"a.kernel\"\n");
}

TEST_CASE("a file without a name is called a string") {
  for (const std::size_t line : {1, 2, 3}) {
    CHECK(tune::line_directive(line, "") == "#line " + std::to_string(line) + " \"<string>\"\n");
  }
}

TEST_CASE("quotes and backslashes in a file's name are escaped") {
  CHECK(tune::line_directive(1, R"(abc"def\ghi)") == "#line 1 \"abc\\\"def\\\\ghi\"\n");
}

const std::string reduce_include = "#include \"libtune/work_group_reduce.kernel\"";
const std::string tile_include = "#include \"libtune/transpose_tile.kernel\"";

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

tune::resolved_source resolve(const std::string& text) {
  return tune::include_kernel_library({"a.kernel", text});
}

/// What is left of the kernel's own text.
std::string own_text(const std::string& text) {
  const std::string all = resolve(text).text;
  const std::string directive = "#line 1 \"a.kernel\"\n";
  REQUIRE(count(all, directive) == 1);
  return all.substr(all.find(directive) + directive.size());
}

TEST_CASE("text that includes nothing of the library stays as it is") {
  for (const char* text :
       {"", "\n", "int a;", "int a;\n", "a\n\nb", "#include \"other.h\"\n",
        "#include <libtune/x.kernel>\n", "#include \"mylibtune/x.kernel\"\n",
        "// #include \"libtune/x.kernel\"\n", "#define include \"libtune/x.kernel\"\n",
        "#include \"libtune/not closed\n", "#included \"libtune/x.kernel\"\n"}) {
    CAPTURE(text);
    CHECK(resolve(text).text == std::string("#line 1 \"a.kernel\"\n") + text);
  }
}

TEST_CASE("an included text comes first, under its own name, and the line is left empty") {
  const tune::resolved_source resolved = resolve("one\n" + reduce_include + "\nthree\n");
  const auto found = std::ranges::find(tune::kernel_library(), "libtune/work_group_reduce.kernel",
                                       &tune::library_kernel::name);
  REQUIRE(found != tune::kernel_library().end());
  const std::string text(found->text);
  CHECK(resolved.text == "#line 1 \"libtune/work_group_reduce.kernel\"\n" + text +
                             "#line 1 \"a.kernel\"\none\n\nthree\n");
}

TEST_CASE("blanks, comments and the lack of a last newline do not matter") {
  CHECK(own_text(" \t# \tinclude\t" + reduce_include.substr(9) + "  // sums\nb") == "  // sums\nb");
  CHECK(own_text("#include" + reduce_include.substr(9)).empty());
  CHECK(own_text(reduce_include + "\r\nb\r\n") == "\r\nb\r\n");
}

TEST_CASE("each text is taken once, in the order in which they are asked for") {
  const tune::resolved_source resolved =
      resolve(reduce_include + "\n" + tile_include + "\n" + reduce_include + "\nint a;\n");
  REQUIRE(resolved.files.size() == 3);
  CHECK(resolved.files[0].name == "a.kernel");
  CHECK(resolved.files[1].name == "libtune/work_group_reduce.kernel");
  CHECK(resolved.files[2].name == "libtune/transpose_tile.kernel");
  CHECK(count(resolved.text, "#define WORK_GROUP_REDUCE(") == 1);
  CHECK(resolved.text.ends_with("#line 1 \"a.kernel\"\n\n\n\nint a;\n"));
}

TEST_CASE("a text that needs another one brings it, before it and once") {
  const std::string rank_include = "#include \"libtune/work_group_rank.kernel\"\n";
  const tune::resolved_source resolved = resolve(rank_include + reduce_include + "\n");
  REQUIRE(resolved.files.size() == 3);
  CHECK(resolved.files[1].name == "libtune/work_group_reduce.kernel");
  CHECK(resolved.files[2].name == "libtune/work_group_rank.kernel");
  CHECK(resolved.runs.size() == 3);
}

TEST_CASE("a kernel may be named as a text of the library") {
  const std::string name = "libtune/work_group_reduce.kernel";
  CHECK(tune::include_kernel_library({name, reduce_include}).files.size() == 2);
}

TEST_CASE("each run begins after its directive") {
  const tune::resolved_source resolved = resolve(tile_include + "\nlast\n");
  REQUIRE(resolved.runs.size() == 2);
  CHECK(resolved.runs[0].first_line == 2);
  CHECK(resolved.runs[0].file == 1);
  CHECK(resolved.runs[1].file == 0);
  const auto lines = std::count(resolved.text.begin(), resolved.text.end(), '\n');
  CHECK(resolved.runs[1].first_line == static_cast<std::size_t>(lines) - 1);
}

TEST_CASE("a name that the library does not have is an error with place and names") {
  const std::string text = "int a;\n#include \"libtune/fft.kernel\"\n";
  CHECK_THROWS_WITH_AS(resolve(text),
                       doctest::Contains("a.kernel:2 includes \"libtune/fft.kernel\""),
                       tune::build_error);
  for (const tune::library_kernel& kernel : tune::kernel_library()) {
    CHECK_THROWS_WITH_AS(resolve(text), doctest::Contains(std::string(kernel.name).c_str()),
                         tune::build_error);
  }
}

TEST_CASE("the texts of the library can be put into any other") {
  CHECK(std::ranges::is_sorted(tune::kernel_library(), {}, &tune::library_kernel::name));
  for (const tune::library_kernel& kernel : tune::kernel_library()) {
    CAPTURE(kernel.name);
    const std::string text(kernel.text);
    CHECK(text.ends_with("\n"));
    // It would keep programs from being cached, as their text would seem to depend on files.
    CHECK(count(text, "#include") == 0);
  }
}

}  // namespace kernel_source_test
