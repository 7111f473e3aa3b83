// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/workload.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"

namespace tune::operations {

std::size_t workload_bytes(const device& device) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const device_limits& limits = device.limits();
  const bool is_gpu = device.kind() == device_kind::gpu;
  const std::size_t unknown_cache = is_gpu ? 64 * mebibyte : 0;
  const std::size_t cache = limits.cache_bytes != 0 ? limits.cache_bytes : unknown_cache;
  // A GPU is fast enough for arrays of realistic size, and there the order of memory accesses
  // matters more.
  const std::size_t wanted = std::max((is_gpu ? 16 : 5) * cache, 32 * mebibyte);
  return std::min({wanted, limits.max_allocation_bytes, limits.global_memory_bytes / 8});
}

std::size_t computed_workload_bytes(const device& device) {
  const std::size_t bytes = workload_bytes(device);
  return device.kind() == device_kind::gpu ? bytes : std::min(bytes, std::size_t{8} << 20);
}

namespace {

std::size_t fitted(const tuning_session& session, std::size_t wanted) {
  constexpr std::size_t part = 8;
  constexpr std::size_t least = std::size_t{1} << 20;
  return session.fit_memory(part * wanted, part * std::min(wanted, least)) / part;
}

}  // namespace

std::size_t workload_bytes(const tuning_session& session) {
  return fitted(session, workload_bytes(session.context().device()));
}

std::size_t computed_workload_bytes(const tuning_session& session) {
  return fitted(session, computed_workload_bytes(session.context().device()));
}

void require_memory(const tuning_session& session, std::size_t bytes) {
  static_cast<void>(session.fit_memory(bytes, bytes));
}

device_array allocate_rows(const context& context, element_type type, std::size_t rows,
                           std::size_t columns) {
  const std::size_t padded = dimension(columns, {.type = type}).required_padded_size();
  return {context, {type, {rows, columns}, {rows, padded}}};
}

int cuda_generation(const device& device) {
  const auto has = device.info().hardware.compute_capability;
  if (device.info().language != kernel_language::cuda_cpp || !has) return 0;
  return static_cast<int>(has->major * 10 + has->minor);
}

std::vector<dimension> unpadded(const std::vector<std::size_t>& size) {
  std::vector<dimension> made;
  for (const std::size_t extent : size) made.push_back({extent, {.exact = true}});
  return made;
}

void expect_quantised(answer& expected,
                      std::function<std::optional<std::string>(std::span<const std::uint8_t>,
                                                               std::span<const std::uint32_t>)>
                          find_wrong) {
  expected.verify(
      [find_wrong = std::move(find_wrong)](
          command_queue& queue,
          const std::vector<answer::result>& results) -> std::optional<std::string> {
        std::vector<std::uint8_t> out;
        std::vector<std::uint32_t> saturated;
        for (const auto& [name, array] : results) {
          const std::size_t bytes = array.layout().bytes();
          if (name == "out") {
            out.resize(bytes);
            queue.read(array.buffer(), out.data(), bytes);
          } else if (name == "saturated") {
            saturated.resize(bytes / sizeof(std::uint32_t));
            queue.read(array.buffer(), saturated.data(), bytes);
          }
        }
        return find_wrong(out, saturated);
      },
      {"out", "saturated"});
}

std::size_t width_class(std::size_t columns) noexcept {
  return std::clamp<std::size_t>(std::bit_ceil(columns), 128, 65536);
}

cost_function costs_of_bytes(std::size_t element_bytes) {
  return [megabytes =
              1e-6 * static_cast<double>(element_bytes)](std::span<const std::uint64_t> sizes) {
    return cost_terms{megabytes * static_cast<double>(sizes[0] * sizes[1])};
  };
}

void repeat_first(command_queue& queue, const device_array& array, std::size_t bytes) {
  const std::size_t all = array.layout().bytes();
  for (std::size_t done = bytes; done > 0 && done < all; done *= 2) {
    queue.copy(array.buffer(), array.buffer(), std::min(done, all - done), done, 0);
  }
}

void write_again(command_queue& queue, const buffer& to, std::size_t bytes,
                 std::span<const std::byte> part) {
  for (std::size_t at = 0; at < bytes; at += part.size()) {
    queue.write(to, part.data(), std::min(part.size(), bytes - at), at);
  }
}

void set_numbers(command_queue& queue, const device_array& array) {
  constexpr std::size_t most = std::size_t{1} << 22;
  const std::size_t bytes = array.layout().bytes();
  std::vector<float> numbers(std::min(bytes / sizeof(float), most));
  std::uint32_t state = 1;
  for (float& number : numbers) {
    number = static_cast<float>(next_number(state) >> 8) * 0x1p-24F;
  }
  const std::size_t part = numbers.size() * sizeof(float);
  if (part == 0) return;
  queue.write(array.buffer(), numbers.data(), part);
  repeat_first(queue, array, part);
  queue.finish();
}

}  // namespace tune::operations
