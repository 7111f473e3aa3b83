// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how much does including <libtune/libtune.hpp> add to the compilation of a file?
//
// The compiler that built this program compiles, in turn, an empty file and one that only includes
// the header, with -O2. Reported is the difference of the medians. Run it on an idle machine.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "bench/enqueue/host_time.hpp"

namespace {

using bench::median;

constexpr int repetitions = 9;

double seconds_to_compile(const std::string& text) {
  const std::string command = "echo '" + text +
                              "' | " LIBTUNE_BENCH_COMPILER
                              " -std=c++20 -O2 " LIBTUNE_BENCH_INCLUDES " -x c++ -c -o /dev/null -";
  const auto start = std::chrono::steady_clock::now();
  if (std::system(command.c_str()) != 0) std::exit(1);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main() {
  std::vector<double> empty, with_header;
  for (int i = 0; i < repetitions; ++i) {
    empty.push_back(seconds_to_compile("int main() {}"));
    with_header.push_back(seconds_to_compile("#include <libtune/libtune.hpp>"));
  }
  std::printf("empty file        %.3f s\nwith libtune.hpp  %.3f s\nadded             %.3f s\n",
              median(empty), median(with_header), median(with_header) - median(empty));
}
