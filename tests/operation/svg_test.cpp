// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <iterator>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/operation/drawing.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/operation/steps.hpp"

namespace svg_test {

using steps::bench;
using tune::write_svg;

bool is_dot_installed() {
  return std::system("command -v dot >/dev/null 2>&1") == 0;  // NOLINT: a test of the machine
}

TEST_CASE("dot draws an operation" * doctest::skip(!is_dot_installed())) {
  const bench on(steps::make_device().device());
  const tune::testing::temporary_directory folder;
  const auto path = folder.path() / "with a space.svg";
  write_svg(on.make_scale(20, 1), path, "scale <&>");
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find("<svg") != std::string::npos);
  CHECK(text.find("padded (32,)") != std::string::npos);
  CHECK(text.find("scale &lt;&amp;&gt;") != std::string::npos);
  CHECK(text.find("</svg>") != std::string::npos);
}

TEST_CASE("a drawing that dot cannot write is an error with what dot says" *
          doctest::skip(!is_dot_installed())) {
  const bench on(steps::make_device().device());
  const tune::testing::temporary_directory folder;
  const auto path = folder.path() / "missing" / "a.svg";
  CHECK_THROWS_WITH_AS(write_svg(on.make_scale(20, 1), path), doctest::Contains("missing/a.svg': "),
                       tune::error);
}

TEST_CASE("without dot a drawing is an error that says what to install") {
  const bench on(steps::make_device().device());
  const tune::testing::temporary_directory folder;
  const tune::testing::scoped_environment path("PATH", folder.path().c_str());
  CHECK_THROWS_WITH_AS(write_svg(on.make_scale(20, 1), "a.svg"),
                       "drawing 'a.svg' takes the program dot, which is not on the PATH; install "
                       "Graphviz, or write what to_dot returns and draw it elsewhere",
                       tune::error);
}

}  // namespace svg_test
