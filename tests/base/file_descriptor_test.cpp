// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/file_descriptor.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

namespace file_descriptor_test {

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

}  // namespace file_descriptor_test
