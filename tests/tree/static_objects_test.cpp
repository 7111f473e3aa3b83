// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

namespace static_objects_test {

/// The object files of the library that use a symbol.
std::set<std::string> users_of(const std::string& symbol) {
  const std::string command = std::string("xargs '") + LIBTUNE_NM + "' -A -u < '" +
                              LIBTUNE_OBJECT_FILES + "' | grep '" + symbol + "$'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             ::pclose);
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::set<std::string> users;
  std::string line;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    users.insert(line.substr(0, line.find(':')));
    line.clear();
  }
  return users;
}

// The destructors of an application's static objects tune, and so do threads that still run when
// main has returned. OpenCL's C++ header has objects of its own, which are not used.
TEST_CASE("no static object of the library is destroyed at the end of the process") {
  const std::set<std::string> all = users_of("[a-z]");
  REQUIRE(all.size() > 20);
  for (const std::string& file : users_of("__cxa_atexit")) {
    CAPTURE(file);
    CHECK_MESSAGE(file.find("opencl") != std::string::npos, "use base/never_destroyed.hpp");
  }
}

}  // namespace static_objects_test
