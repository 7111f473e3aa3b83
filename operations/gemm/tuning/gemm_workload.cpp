// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/gemm/tuning/gemm_workload.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "operations/gemm/reference.hpp"

namespace tune::operations {
namespace {

/// Numbers between -1 and 1; the seed selects the sequence.
template <class T>
host_array<T> random_array(const shape& size, std::uint32_t seed) {
  host_array<T> made(size);
  for (std::size_t i = 0; i < size.elements(); ++i) {
    made.data()[i] = static_cast<T>(static_cast<float>(next_number(seed) >> 8) * 0x1p-23F - 1.0F);
  }
  return made;
}

shape size_of(gemm_layout order, std::size_t rows, std::size_t columns) {
  return order == gemm_layout::column_major ? shape{columns, rows} : shape{rows, columns};
}

/// Matrices and their product from the host.
template <class In, class Out>
struct host_product {
  host_array<In> a;
  host_array<In> b;
  host_array<Out> before;  // C, if it is read
  host_array<Out> c;
};

/// Returns the product of random matrices. It is computed once in a process, because a tuning for
/// ranges uses the same ones at many sizes.
template <class In, class Out>
const host_product<In, Out>& product_by_host(const gemm_key& key, std::size_t m, std::size_t n,
                                             std::size_t k, float alpha, float beta) {
  struct all_products {
    std::mutex mutex;
    std::map<std::string, host_product<In, Out>> made;
  };
  static ::tune::detail::never_destroyed<all_products> all;
  const std::string name =
      fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(key.a), static_cast<int>(key.b),
                  static_cast<int>(key.c), m, n, k, alpha, beta);
  const std::lock_guard lock(all->mutex);
  const auto found = all->made.find(name);
  if (found != all->made.end()) return found->second;
  auto a = random_array<In>(size_of(key.a, m, k), 1);
  auto b = random_array<In>(size_of(key.b, k, n), 2);
  auto before = random_array<Out>(size_of(key.c, m, n), 3);
  auto c = before;
  gemm_on_host(key, alpha, beta, a, b, c);
  return all->made
      .emplace(name,
               host_product<In, Out>{std::move(a), std::move(b), std::move(before), std::move(c)})
      .first->second;
}

template <class T>
void set_elements(command_queue queue, const device_array& array, std::uint32_t seed) {
  constexpr std::size_t most_drawn = std::size_t{1} << 16;
  static const std::array drawn{random_array<T>({most_drawn}, 1), random_array<T>({most_drawn}, 2)};
  const std::size_t part = std::min(array.layout().bytes(), most_drawn * sizeof(T));
  if (part == 0) return;
  queue.write(array.buffer(), drawn.at(seed - 1).data(), part);
  repeat_first(queue, array, part);
  queue.finish();
}

}  // namespace

device_array make_matrix(const command_queue& queue, dtype type, gemm_layout order,
                         std::size_t rows, std::size_t columns, std::uint32_t seed) {
  const shape size = size_of(order, rows, columns);
  dimension row(size[1], {.preferred = gemm_copied_bytes / dtype_bytes(type), .type = type});
  device_array made(queue.context(), {type, size, {size[0], row.required_padded_size()}});
  if (type == dtype::float32) {
    set_elements<float>(queue, made, seed);
  } else {
    set_elements<float16>(queue, made, seed);
  }
  return made;
}

known_gemm::known_gemm(const command_queue& queue, const gemm_key& key, std::size_t m,
                       std::size_t n, std::size_t k, float alpha, float beta)
    : key_(key), m_(m), n_(n), k_(k), alpha_(alpha), beta_(beta), work_(queue) {
  if (key.input == dtype::float32) {
    set<float, float>();
  } else if (key.output == dtype::float32) {
    set<float16, float>();
  } else {
    set<float16, float16>();
  }
}

template <class In, class Out>
void known_gemm::set() {
  const auto& known = product_by_host<In, Out>(key_, m_, n_, k_, alpha_, beta_);
  // Without contents c is NaN, and must not be read.
  if (beta_ != 0) work_.set("c", known.before);
  work_.set("a", known.a).set("b", known.b);
  expected_.add("c", known.c, gemm_tolerance(key_, k_)).report_accuracy();
}

std::optional<std::string> known_gemm::find_wrong(const program& built, const gemm_tuning& tuning,
                                                  accuracy& measured) const {
  gemm op(work_.queue(), built, tuning, key_, m_, n_, k_);
  op.set_factors(alpha_, beta_);
  auto wrong = find_fault(op, work_, expected_, measured);
  if (wrong) wrong = fmt::format("of {} x {} elements, sums of {}: {}", m_, n_, k_, *wrong);
  return wrong;
}

}  // namespace tune::operations
