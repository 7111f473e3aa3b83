// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/cached_compiler.hpp"

#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/cache/recent_binaries.hpp"
#include "libtune/store/cache/binary_cache.hpp"

namespace tune {
namespace {

// Null if the driver does not accept it.
std::optional<program> make(const context& context, const std::string& name,
                            std::span<const std::byte> binary) {
  try {
    return context.create_program_from_binary(name, binary);
  } catch (const error& failure) {
    log(log_level::debug,
        fmt::format("the cached program of '{}' is compiled again: {}", name, failure.what()));
    return std::nullopt;
  }
}

std::optional<program> load(const binary_cache& cache, recent_binaries* recent,
                            const binary_key& key, const context& context,
                            const std::string& name) {
  if (recent != nullptr) {
    if (const auto binary = recent->find(key.digest())) {
      if (auto made = make(context, name, *binary)) return made;
      recent->remove(key.digest());
    }
  }
  auto binary = cache.load(key);
  if (!binary) return std::nullopt;
  auto made = make(context, name, *binary);
  if (!made) {
    cache.remove(key);
  } else if (recent != nullptr) {
    recent->add(key.digest(), *std::move(binary));
  }
  return made;
}

void save(const binary_cache& cache, const binary_key& key, const program& made,
          const std::string& name) {
  try {
    const std::vector<std::byte> binary = made.binary();
    if (!binary.empty()) cache.save(key, binary);
  } catch (const error& failure) {
    log(log_level::debug, fmt::format("'{}' is not cached: {}", name, failure.what()));
  }
}

}  // namespace

cached_compiler::cached_compiler(const compiler& inner, std::shared_ptr<const binary_cache> cache,
                                 std::shared_ptr<recent_binaries> recent, bool keeps) noexcept
    : inner_(inner), cache_(std::move(cache)), recent_(std::move(recent)), keeps_(keeps) {}

program cached_compiler::do_build(const context& context, const program_source& source) const {
  if (cache_ == nullptr || depends_on_files(source)) return inner_.build(context, source);
  const binary_key key = program_key(context, source);
  if (auto cached = load(*cache_, recent_.get(), key, context, source.name)) {
    return *std::move(cached);
  }
  program made = inner_.build(context, source);
  if (keeps_) save(*cache_, key, made, source.name);
  return made;
}

}  // namespace tune
