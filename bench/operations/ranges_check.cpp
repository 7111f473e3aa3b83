// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operations/ranges_check.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace bench {
namespace {

constexpr std::size_t counters = 1 << 16;
constexpr std::size_t group = 256;

// Each item has a counter of its own. Memory that is not written has the same bits in both.
const tune::kernel_source comparison{"compare.kernel", R"(
#if is_half
#define WORD ushort
#define VALUE(from, i) vload_half(i, (GLOBAL const half*)(from))
#else
#define WORD uint
#define VALUE(from, i) ((GLOBAL const float*)(from))[i]
#endif
KERNEL REQD_WORK_GROUP_SIZE(256, 1, 1)
void compare(GLOBAL const WORD* got, GLOBAL const WORD* expected, GLOBAL uint* counts, ulong elements,
             float absolute, float relative) {
  uint wrong = 0;
  for (ulong i = get_global_id(0); i < elements; i += get_global_size(0)) {
    if (got[i] == expected[i]) continue;
    const float is = VALUE(got, i), right = VALUE(expected, i);
    wrong += fabs(is - right) <= absolute + relative * fabs(right) ? 0 : 1;
  }
  counts[get_global_id(0)] += wrong;
})"};

tune::kernel compile_comparison(const tune::context& context, tune::dtype type) {
  tune::defines macros;
  macros.add("is_half", type == tune::dtype::float16 ? 1 : 0);
  return tune::compile(context, comparison, macros).create_kernel("compare");
}

bool is_scratch(const std::string& slot) {
  return slot.starts_with("partial") || slot == "work_area";
}

}  // namespace

/// The arrays of one operation after the other: each slot reuses the memory of the same slot
/// before, if it is large enough.
class size_checker::memory final : public tune::allocator {
 public:
  explicit memory(tune::context context) : allocator(std::move(context)) {}

  /// Begins the slots of another operation.
  void begin() {
    next_ = 0;
    has_grown_ = false;
  }
  bool has_grown() const { return has_grown_; }

 private:
  tune::buffer do_allocate(std::size_t bytes) override {
    if (next_ == all_.size() || all_[next_].size_bytes() < bytes) {
      tune::buffer made = context().create_buffer(bytes);
      has_grown_ = true;
      if (next_ == all_.size()) {
        all_.push_back(std::move(made));
      } else {
        all_[next_] = std::move(made);
      }
    }
    return all_[next_++];
  }

  std::vector<tune::buffer> all_;
  std::size_t next_ = 0;
  bool has_grown_ = false;
};

size_checker::size_checker(bench_device& on, tune::dtype type, double absolute, double relative,
                           std::vector<std::string> inputs,
                           std::function<void(tune::operation&)> fill)
    : on_(on),
      inputs_(std::move(inputs)),
      fill_(std::move(fill)),
      own_(std::make_shared<memory>(on.context)),
      other_(std::make_shared<memory>(on.context)),
      kernel_(compile_comparison(on.context, type)),
      counts_(on.context.create_buffer(counters * sizeof(std::uint32_t))),
      absolute_(absolute),
      relative_(relative),
      element_bytes_(tune::dtype_bytes(type)) {
  on.queue.zero(counts_, counts_.size_bytes());
}

size_checker::~size_checker() = default;

void size_checker::check(tune::operation& chosen, tune::operation& trusted) {
  own_->begin();
  other_->begin();
  chosen.set_allocator(own_);
  trusted.set_allocator(other_);
  for (const std::string& input : inputs_) chosen.ensure_bound(input);
  if (own_->has_grown()) fill_(chosen);
  chosen.ensure_all_bound();
  constexpr std::array poison{std::byte{0xFF}};
  std::vector<std::string> outputs;
  for (const std::string& slot : trusted.slot_names()) {
    if (is_scratch(slot)) continue;
    const tune::device_array& own = chosen.buffer(slot);
    if (std::ranges::find(inputs_, slot) != inputs_.end()) {
      trusted.bind(slot, own);
      continue;
    }
    const tune::device_array twin(*other_, own.layout());
    trusted.bind(slot, twin);
    outputs.push_back(slot);
    for (const tune::device_array* each : {&own, &twin}) {
      on_.queue.fill(each->buffer(), each->layout().bytes(), poison);
    }
  }
  trusted.ensure_all_bound();
  chosen.run();
  trusted.run();
  for (const std::string& slot : outputs) compare(chosen.buffer(slot), trusted.buffer(slot));
}

void size_checker::compare(const tune::device_array& got, const tune::device_array& expected) {
  const std::uint64_t elements = got.layout().bytes() / element_bytes_;
  if (elements == 0) return;
  const std::size_t items = std::min(counters, tune::round_up(elements, group));
  kernel_.set_arguments(got.buffer(), expected.buffer(), counts_, elements,
                        static_cast<float>(absolute_), static_cast<float>(relative_));
  on_.queue.enqueue(kernel_, {.global = {items}, .local = {group}});
}

std::uint64_t size_checker::wrong() {
  std::vector<std::uint32_t> all(counters);
  on_.queue.read(counts_, all.data(), counts_.size_bytes());
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

}  // namespace bench
