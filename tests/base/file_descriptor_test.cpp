// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/file_descriptor.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

namespace file_descriptor_test {

using tune::detail::file_descriptor;

int open_something() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST_CASE("a file is closed with its descriptor") {
  const int number = open_something();
  {
    const file_descriptor file(number);
    CHECK(file);
    CHECK(file.get() == number);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
  CHECK_FALSE(file_descriptor());
}

TEST_CASE("a file moves to another descriptor, and is closed once") {
  const int number = open_something();
  file_descriptor first(number);
  file_descriptor second(std::move(first));
  CHECK(second.get() == number);
  file_descriptor third;
  third = std::move(second);
  CHECK(third.get() == number);
  CHECK(is_open(number));
  CHECK(third.release() == number);
  CHECK_FALSE(third);
  CHECK(is_open(number));
  CHECK(::close(number) == 0);
}

}  // namespace file_descriptor_test
