// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An entry of the binary cache that somebody has changed: it is not loaded, or it is what was
// saved.
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/fuzz/edits.hpp"

namespace {

const tune::binary_key key{{"source", "kernel"}, {"device", "a device"}};

struct saved_entry {
  saved_entry() {
    tune::binary_cache(folder.path().string()).save(key, binary);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      if (entry.is_regular_file() && entry.file_size() > binary.size()) path = entry.path();
    }
    file = fuzz::read_file(path);
  }

  tune::testing::temporary_directory folder;
  std::vector<std::byte> binary = std::vector<std::byte>(300, std::byte{0x5A});
  std::filesystem::path path;
  std::vector<std::byte> file;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const saved_entry entry;
  ::setenv("LIBTUNE_LOG", "off", 1);
  if (entry.path.empty()) std::abort();
  fuzz::write_file(entry.path, fuzz::edited(entry.file, {data, size}));
  const auto loaded = tune::binary_cache(entry.folder.path().string()).load(key);
  if (loaded && *loaded != entry.binary) std::abort();
  if (size == 0 && !loaded) std::abort();
  return 0;
}
