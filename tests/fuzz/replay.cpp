// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Stands in for libFuzzer's main: gives the target nothing, and each file of the folders named.
#include <cstdio>
#include <filesystem>

#include "tests/fuzz/edits.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  LLVMFuzzerTestOneInput(nullptr, 0);
  std::size_t inputs = 1;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::exists(argv[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      const auto contents = fuzz::read_file(entry.path());
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(contents.data()),
                             contents.size());
      ++inputs;
    }
  }
  std::printf("%zu inputs\n", inputs);
}
