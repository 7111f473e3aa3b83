// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sensors/rapl.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::uint64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;
}

std::string read_word(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

// A counter of microjoules that wraps around at its range.
class counter {
 public:
  explicit counter(std::string folder)
      : path_(std::move(folder) + "/energy_uj"),
        range_(read_number(path_.substr(0, path_.rfind('/')) + "/max_energy_range_uj").value_or(0)),
        last_(read()) {}

  double joules() {
    const std::uint64_t now = read();
    total_ += now >= last_ ? now - last_ : range_ - std::min(range_, last_) + now;
    last_ = now;
    return static_cast<double>(total_) * 1e-6;
  }

 private:
  std::uint64_t read() const {
    if (const auto now = read_number(path_)) return *now;
    throw error("the energy counter " + path_ +
                " cannot be read; on most systems only the superuser may: run as root, or let an "
                "administrator make it readable");
  }

  std::string path_;
  std::uint64_t range_;
  std::uint64_t last_;
  std::uint64_t total_ = 0;
};

class rapl_sensor final : public energy_sensor {
 public:
  explicit rapl_sensor(std::vector<counter> counters) : counters_(std::move(counters)) {}

  std::string name() const override { return "RAPL"; }
  double joules() override {
    double sum = 0;
    for (counter& each : counters_) sum += each.joules();
    return sum;
  }

 private:
  std::vector<counter> counters_;
};

}  // namespace

// Zones are intel-rapl:PACKAGE and intel-rapl:PACKAGE:PART, also on AMD. Of the parts, only memory
// is not included in its package. Other names for the same counters (intel-rapl-mmio) are left out.
std::unique_ptr<energy_sensor> make_rapl_sensor(const std::string& folder) {
  std::vector<counter> counters;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (!entry.path().filename().string().starts_with("intel-rapl:")) continue;
    const std::string zone = read_word(entry.path().string() + "/name");
    if (zone.starts_with("package") || zone == "dram") {
      counters.emplace_back(entry.path().string());
    }
  }
  if (counters.empty()) {
    throw error("this machine offers no energy counters of its processors (no package in " +
                folder + "); virtual machines and containers often have none");
  }
  return std::make_unique<rapl_sensor>(std::move(counters));
}

}  // namespace tune::detail
