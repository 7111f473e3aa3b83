// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/backend.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include "libtune/base/never_destroyed.hpp"

namespace tune::cuda {
namespace {

constexpr std::array<compute_capability, 2> some_generations{{{7, 5}, {9, 0}}};

/// 9.0 of "sm_90", 10.0 of "sm_100"; empty of anything else.
std::optional<compute_capability> generation_of(std::string_view name) {
  constexpr std::string_view prefix = "sm_";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failure != std::errc{} || end != name.data() + name.size() || number < 10) {
    return std::nullopt;
  }
  return compute_capability{number / 10, number % 10};
}

class cuda_backend final : public detail::backend {
 public:
  std::string name() const override { return "CUDA"; }
  detail::offered_devices offer() const override {
    const inventory& found = take_inventory();
    return {.platforms = {found.devices}, .absence = found.absence};
  }
  std::vector<device> compile_targets(std::string_view rest) const override {
    std::vector<device> devices;
    if (rest.empty()) {
      for (const compute_capability each : some_generations) {
        devices.push_back(compile_only_device(each));
      }
    } else if (const auto generation = generation_of(rest)) {
      devices.push_back(compile_only_device(*generation));
    }
    return devices;
  }
  std::string compile_target_names() const override { return R"("cuda sm_90", "cuda")"; }
  void prepare_compiler(const detail::compile_target& target) const override {
    prepare_compiler_for(target.compute_capability, target.compiler_identity);
  }
  compiled_program compile(const detail::compile_target& target, const program_source& source,
                           std::span<const nd_range>, const std::string&) const override {
    return compile_for(target.compute_capability, target.compiler_identity, source);
  }
};

}  // namespace

const detail::backend& own_backend() noexcept {
  static const detail::never_destroyed<cuda_backend> only;
  return *only;
}

}  // namespace tune::cuda
