// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/result_digest.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/verify/device_comparison.hpp"
#include "libtune/verify/element_macros.hpp"

#include "digest_words.kernel.hpp"

namespace tune::detail {
namespace {

std::size_t word_bytes_of(const array_layout& layout) {
  const std::size_t bytes = layout.element_bytes();
  return bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

// As in digest_words.kernel. Constants of SplitMix64 (Steele, Lea and Flood, 2014) and xxHash.
std::uint64_t mixed(std::uint64_t word, std::uint64_t place) {
  std::uint64_t mixture = (word + 1) * 0x9E3779B97F4A7C15U ^ (place + 1) * 0xC2B2AE3D27D4EB4FU;
  mixture = (mixture ^ (mixture >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixture = (mixture ^ (mixture >> 27U)) * 0x94D049BB133111EBU;
  return mixture ^ (mixture >> 31U);
}

template <class Word>
std::uint64_t digest_words(const std::vector<std::byte>& bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size() / sizeof(Word); ++i) {
    Word word = 0;
    std::memcpy(&word, bytes.data() + i * sizeof(Word), sizeof word);
    sum += mixed(word, i);
  }
  return sum;
}

}  // namespace

std::uint64_t digest_of(const array_layout& layout, const void* elements) {
  const array_layout dense(layout.type(), layout.size());
  std::vector<std::byte> bytes(dense.bytes());
  copy_elements(layout, elements, dense, bytes.data());
  switch (word_bytes_of(layout)) {
    case 4: return digest_words<std::uint32_t>(bytes);
    case 2: return digest_words<std::uint16_t>(bytes);
    default: return digest_words<std::uint8_t>(bytes);
  }
}

struct result_digest::prepared {
  context place;
  tune::kernel kernel;
  tune::buffer sums;
};

result_digest::result_digest() = default;
result_digest::~result_digest() = default;

std::uint64_t result_digest::of(command_queue& queue, const device_array& array) {
  const std::size_t bytes = array.layout().bytes();
  if (bytes >= array_comparer::least_bytes && row_layout::of(array.layout())) {
    try {
      return on_device(queue, array, word_bytes_of(array.layout()));
    } catch (const std::exception& failure) {
      log(log_level::debug, fmt::format("a digest is computed on the host, for device '{}' cannot: "
                                        "{}",
                                        queue.device().name(), failure.what()));
    }
  }
  std::vector<std::byte> copy(bytes);
  if (bytes != 0) queue.read(array.buffer(), copy.data(), bytes);
  return digest_of(array.layout(), copy.data());
}

std::uint64_t result_digest::on_device(command_queue& queue, const device_array& array,
                                       std::size_t word_bytes) {
  const std::lock_guard lock(mutex_);
  const context place = queue.context();
  std::unique_ptr<prepared>& own = prepared_[word_bytes];
  if (!own || own->place != place) {
    defines macros;
    macros.add("wgs", static_cast<int>(work_group)).add("word", word_name(word_bytes));
    const program made =
        compile(place, {"digest_words.kernel", std::string(embedded::digest_words_kernel)}, macros);
    own = std::make_unique<prepared>(prepared{place, made.create_kernel("digest_words"),
                                              place.create_buffer(groups * sizeof(std::uint64_t))});
  }
  const row_layout rows = *row_layout::of(array.layout());
  const std::uint64_t words = array.layout().element_bytes() / word_bytes;
  own->kernel.set_arguments(array.buffer(), own->sums, rows.rows, rows.columns * words,
                            rows.pitch * words);
  queue.enqueue(own->kernel, {{groups * work_group}, {work_group}});
  std::array<std::uint64_t, groups> sums{};
  queue.read(own->sums, sums.data(), sizeof sums);
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

}  // namespace tune::detail
