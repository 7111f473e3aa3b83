// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/cached_binary.hpp"

#include <memory>
#include <utility>

#include "libtune/kernel/cache/binary_writer.hpp"
#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/cache/recent_binaries.hpp"
#include "libtune/store/cache/binary_cache.hpp"

namespace tune {

std::optional<std::vector<std::byte>> find_cached_binary(const context& context,
                                                         const program_source& source) {
  const auto cache = program_cache();
  if (cache == nullptr || depends_on_files(source)) return std::nullopt;
  const binary_key key = program_key(context, source);
  const auto recent = recent_programs();
  if (recent != nullptr) {
    if (const auto binary = recent->find(key.digest())) return *binary;
  }
  auto found = cache->load(key);
  if (found && recent != nullptr) recent->add(key.digest(), *found);
  return found;
}

void cache_binary(const context& context, const program_source& source,
                  std::vector<std::byte> binary) {
  const auto cache = program_cache();
  if (cache == nullptr || depends_on_files(source) || binary.empty()) return;
  const detail::sha256_digest key = program_key(context, source).digest();
  if (const auto recent = recent_programs()) recent->add(key, binary);
  detail::binary_writer::shared().write(cache, {.key = key, .binary = std::move(binary)});
}

void flush_cached_binaries() { detail::binary_writer::shared().flush(); }

}  // namespace tune
