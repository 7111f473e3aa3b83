// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/kernel_figures.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "libtune/base/plain_text.hpp"
#include "libtune/device/interface.hpp"

namespace tune {
namespace {

constexpr std::size_t most_kernels = 8;
constexpr std::size_t longest_name = 64;

struct seen_kernel {
  const program* of;
  std::shared_ptr<const detail::launch_record> record;
};

std::vector<seen_kernel> kernels_of(std::span<const program> programs) {
  std::vector<seen_kernel> kernels;
  for (const program& made : programs) {
    for (auto& record : made.impl()->launch_records()) kernels.push_back({&made, record});
  }
  const auto is_idle = [](const seen_kernel& kernel) { return kernel.record->launches().empty(); };
  if (!std::ranges::all_of(kernels, is_idle)) std::erase_if(kernels, is_idle);
  return kernels;
}

// Without launches, returns the declared ones.
std::vector<nd_range> launches_of(const seen_kernel& seen, const kernel_info& info,
                                  const std::optional<resources>& asked) {
  std::vector<nd_range> launches = seen.record->launches();
  if (!launches.empty()) return launches;
  nd_range expected{.global = {}, .local = info.required_work_group_size};
  if (asked) {
    const work_size group{asked->work_group[0], asked->work_group[1], asked->work_group[2]};
    if (expected.local.x == 0) expected.local = group;
    expected.local_memory_bytes = asked->dynamic_local_memory_bytes;
  }
  if (expected.local.x > 0) launches.push_back(expected);
  return launches;
}

void take(std::vector<metric>& list, const char* name, double value, const char* unit = "",
          bool least = false) {
  const metric* known = find_metric(list, name);
  if (known != nullptr && (least ? known->value <= value : known->value >= value)) return;
  set_metric(list, {name, value, unit});
}

void take_occupancy(std::vector<metric>& list, const kernel& made, const device_limits& limits,
                    const nd_range& launch) {
  const std::size_t items = launch.local.total();
  const auto groups = made.resident_work_groups(items, launch.local_memory_bytes);
  if (!groups) return;
  take(list, "work_groups_per_unit", static_cast<double>(*groups), "", true);
  if (limits.work_items_per_compute_unit == 0) return;
  const std::size_t running =
      *groups * round_up(items, std::max<std::size_t>(1, limits.simd_group_size));
  take(list, "occupancy",
       static_cast<double>(running) / static_cast<double>(limits.work_items_per_compute_unit), "",
       true);
}

std::vector<metric> figures_of(const seen_kernel& seen, const std::optional<resources>& asked) {
  const kernel made = seen.of->create_kernel(seen.record->kernel());
  const kernel_info& info = made.info();
  const device_limits& limits = made.impl().context()->info().limits;
  std::vector<metric> list;
  if (info.registers > 0) take(list, "registers", static_cast<double>(info.registers));
  take(list, "local_memory", static_cast<double>(info.local_memory_bytes), "B");
  for (const nd_range& launch : launches_of(seen, info, asked)) {
    take(list, "dynamic_local_memory", static_cast<double>(launch.local_memory_bytes), "B");
    take_occupancy(list, made, limits, launch);
  }
  take(list, "private_memory", static_cast<double>(info.private_memory_bytes), "B");
  return list;
}

// The name of a kernel's figure: "registers_of_reduce_float_64" for the kernel reduce<float, 64>.
std::string name_of(const std::string& figure, const std::string& kernel) {
  std::string name = figure + "_of_";
  for (const char c : kernel) {
    const bool fits = detail::is_letter_or_digit(c);
    if (fits || name.back() != '_') {
      name += fits ? detail::lower_case(c) : '_';
    }
  }
  return name.substr(0, longest_name);
}

}  // namespace

std::vector<metric> kernel_figures(std::span<const program> programs,
                                   const std::optional<resources>& asked) {
  const std::vector<seen_kernel> kernels = kernels_of(programs);
  std::vector<metric> all;
  std::vector<metric> single;
  std::vector<const program*> launched;
  for (const seen_kernel& seen : kernels) {
    for (const metric& item : figures_of(seen, asked)) {
      const bool least = item.name == "occupancy" || item.name == "work_groups_per_unit";
      take(all, item.name.c_str(), item.value, item.unit.c_str(), least);
      if (kernels.size() > 1 && kernels.size() <= most_kernels) {
        set_metric(single, {name_of(item.name, seen.record->kernel()), item.value, item.unit});
      }
    }
    if (std::ranges::find(launched, seen.of) == launched.end()) launched.push_back(seen.of);
  }
  std::size_t bytes = 0;
  for (const program* made : launched) bytes += made->impl()->binary_bytes();
  if (bytes > 0) set_metric(all, {"binary_size", static_cast<double>(bytes), "B"});
  all.insert(all.end(), single.begin(), single.end());
  return all;
}

}  // namespace tune
