// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <utility>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/shared_library.hpp"

namespace handles_test {

using tune::detail::file_descriptor;

int open_something() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST_CASE("a file is closed once, with the descriptor to which it has moved") {
  const int number = open_something();
  {
    file_descriptor first(number);
    file_descriptor second(std::move(first));
    CHECK(second.get() == number);
    file_descriptor third;
    CHECK_FALSE(third);
    third = std::move(second);
    CHECK(third);
    CHECK(third.get() == number);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("a released file stays open") {
  file_descriptor file(open_something());
  const int number = file.release();
  CHECK_FALSE(file);
  CHECK(::close(number) == 0);
}

TEST_CASE("an absent library says why, and has no symbols") {
  const tune::shared_library library("liblibtune_has_no_such_library.so.7");
  CHECK_FALSE(library);
  CHECK(library.error().find("liblibtune_has_no_such_library.so.7") != std::string::npos);
  CHECK(library.symbol("cos") == nullptr);
  CHECK_FALSE(tune::shared_library());
  CHECK_FALSE(tune::shared_library().error().empty());
}

TEST_CASE("a library has its symbols and no others, also after it has moved") {
  tune::shared_library first("libm.so.6");
  REQUIRE_MESSAGE(first, first.error());
  CHECK(first.error().empty());
  tune::shared_library second = std::move(first);
  tune::shared_library library;
  library = std::move(second);
  CHECK(library.symbol("libtune_has_no_such_symbol") == nullptr);
  const auto absolute = library.function<double (*)(double)>("fabs");
  REQUIRE(static_cast<bool>(absolute));
  CHECK(absolute(-2.5) == 2.5);
}

TEST_CASE("a library is loaded from the folder of another one") {
  const tune::shared_library mathematics("libm.so.6");
  const tune::shared_library threads = mathematics.beside("libpthread.so.0");
  CHECK_MESSAGE(threads, threads.error());
  CHECK(std::filesystem::exists(mathematics.folder() / "libm.so.6"));
  const tune::shared_library absent = mathematics.beside("libtune_has_no_such_library.so");
  CHECK_FALSE(absent);
  CHECK(absent.error().find("/libtune_has_no_such_library.so") != std::string::npos);
  CHECK_FALSE(tune::shared_library().beside("libpthread.so.0"));
  CHECK(tune::shared_library().folder().empty());
}

}  // namespace handles_test
