// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/terminal_text.hpp"

#include <doctest/doctest.h>
#include <string>

#include "libtune/base/json.hpp"
#include "libtune/base/log.hpp"

namespace terminal_text_test {

using tune::detail::terminal_text;
using tune::detail::text_shape;

TEST_CASE("what a terminal would obey is a question mark") {
  CHECK(terminal_text("a\x1b[2Jb\x07\x7f") == "a?[2Jb??");
  CHECK(terminal_text("\xc2\x9b"
                      "2J \xc2\x80 \xc2\x9f") == "?2J ? ?");
  CHECK(terminal_text(std::string("\0\r", 2)) == "??");
  CHECK(terminal_text("one\n\ttwo") == "one\n\ttwo");
  CHECK(terminal_text("one\r\ntwo\rthree") == "one\r\ntwo?three");
  CHECK(terminal_text("one\n\ttwo", text_shape::cell) == "one??two");
}

TEST_CASE("letters of all languages stay, and bytes that are no letters do not") {
  const std::string letters = "\xc3\x9c \xc2\xa0 \xc5\x9b \xe2\x82\xac \xf0\x9f\x98\x80";
  CHECK(terminal_text(letters, text_shape::cell) == letters);
  CHECK(terminal_text("\x9b"
                      "2J") == "?2J");
  CHECK(terminal_text("\xc3") == "?");
  CHECK(terminal_text("\xc3(") == "?(");
  CHECK(terminal_text("\xc0\x9b \xff") == "?? ?");
  CHECK(terminal_text("\xe2\x82") == "??");
  CHECK(terminal_text("").empty());
}

TEST_CASE("documents in JSON have numbers for control characters, and give them back") {
  const std::string text = "\x1b[2J \xc2\x9b \x7f \xc3\x9c";
  const std::string document = tune::detail::json_text({{"a", text}});
  CHECK(terminal_text(document) == document);
  CHECK(tune::detail::json::parse(document)["a"] == text);
}

}  // namespace terminal_text_test
