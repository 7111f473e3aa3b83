// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how good could any search strategy be?
//
// Method: searches with impossible knowledge are scored as strategies_bench scores real ones: one
// that proposes the optimum after some random configurations, and two that order the space by the
// predictions of the effects of single parameters, or of those and of all pairs. The effects are
// fitted to the logarithms of all times of a space by iterating over the tables until little
// changes. It prints the mean and the lowest score of the spaces, for a number of seeds.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libtune/extra/simulate/read_recording.hpp"
#include "libtune/extra/simulate/scoring.hpp"
#include "libtune/extra/simulate/simulation.hpp"
#include "libtune/search/space/random_source.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace {

using tune::recorded_space;
using tune::scoring;

/// Proposes the configurations of a list, in its order.
class listed final : public tune::strategy {
 public:
  listed(const tune::search_space& space, std::vector<std::size_t> order)
      : strategy(space, {.early_end = false}), order_(std::move(order)) {}

 private:
  std::optional<std::size_t> do_ask() override {
    return next_ < order_.size() ? std::optional(order_[next_++]) : std::nullopt;
  }

  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
};

std::vector<std::size_t> shuffled(std::size_t size, std::uint64_t seed) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  tune::random_source random(seed);
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

std::size_t optimum_of(const recorded_space& space) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < space.size(); ++i) {
    const double score = space[i].score_ms.value_or(std::numeric_limits<double>::infinity());
    if (score < least) std::tie(best, least) = std::pair(i, score);
  }
  return best;
}

/// Random configurations, followed by the optimum.
std::vector<std::size_t> optimum_after(const recorded_space& space, std::size_t count,
                                       std::uint64_t seed) {
  auto order = shuffled(space.size(), seed);
  const auto place = std::ranges::find(order, optimum_of(space)) - order.begin();
  const auto wanted = static_cast<std::ptrdiff_t>(std::min(count, order.size() - 1));
  if (place > wanted) {
    std::rotate(order.begin() + wanted, order.begin() + place, order.begin() + place + 1);
  }
  return order;
}

/// Effects of the values of single parameters, or of pairs of them, on the logarithm of the time.
class effects {
 public:
  effects(const recorded_space& space, bool with_pairs) : space_(space) {
    const auto& parameters = space.space().parameters();
    for (std::size_t a = 0; a < parameters.size(); ++a) {
      tables_.push_back({a, a, std::vector<double>(parameters[a].candidates.size())});
      for (std::size_t b = 0; with_pairs && b < a; ++b) {
        const std::size_t cells = parameters[a].candidates.size() * parameters[b].candidates.size();
        tables_.push_back({a, b, std::vector<double>(cells)});
      }
    }
    for (std::size_t i = 0; i < space.size(); ++i) {
      if (space[i].score_ms) measured_.push_back(i);
      choices_.push_back(space.space().choice(i));
    }
    fit();
  }

  /// The configurations, in the order of the predicted times.
  std::vector<std::size_t> order() const {
    std::vector<double> predicted;
    for (std::size_t i = 0; i < space_.size(); ++i) predicted.push_back(predict(i));
    std::vector<std::size_t> order(space_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return predicted[i]; });
    return order;
  }

 private:
  struct table {
    std::size_t first, second;  // equal for a single parameter
    std::vector<double> effect;
  };

  std::size_t cell(const table& of, std::size_t configuration) const {
    const auto& choice = choices_[configuration];
    if (of.first == of.second) return choice[of.first];
    const std::size_t width = space_.space().parameters()[of.second].candidates.size();
    return choice[of.first] * width + choice[of.second];
  }

  double predict(std::size_t configuration) const {
    double sum = 0;
    for (const table& one : tables_) sum += one.effect[cell(one, configuration)];
    return sum;
  }

  void fit() {
    constexpr int rounds = 200;
    // The weight of an imagined observation without an effect in each cell.
    constexpr double prior = 1;
    std::vector<double> rest(space_.size());
    double mean = 0;
    for (const std::size_t i : measured_) mean += std::log(*space_[i].score_ms);
    mean /= static_cast<double>(std::max<std::size_t>(measured_.size(), 1));
    for (const std::size_t i : measured_) rest[i] = std::log(*space_[i].score_ms) - mean;
    for (int round = 0; round < rounds; ++round) {
      for (table& one : tables_) {
        std::vector<double> sum(one.effect.size());
        std::vector<double> count(one.effect.size(), prior);
        for (const std::size_t i : measured_) {
          sum[cell(one, i)] += rest[i] + one.effect[cell(one, i)];
          ++count[cell(one, i)];
        }
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] /= count[k];
        for (const std::size_t i : measured_) {
          rest[i] += one.effect[cell(one, i)] - sum[cell(one, i)];
        }
        one.effect = std::move(sum);
      }
    }
  }

  const recorded_space& space_;
  std::vector<table> tables_;
  std::vector<std::size_t> measured_;
  std::vector<std::vector<std::size_t>> choices_;
};

using make_order = std::function<std::vector<std::size_t>(const recorded_space&, std::uint64_t)>;

void print(const std::string& name, const std::vector<recorded_space>& spaces, std::size_t seeds,
           const make_order& order) {
  double sum = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (const recorded_space& space : spaces) {
    const scoring by(tune::random_baseline(space, tune::random_baseline::failures::drawn));
    double own = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      listed search(space.space(), order(space, seed));
      own += by.score(tune::simulate(search, space, {.max_ms = by.budget_ms()}));
    }
    own /= static_cast<double>(seeds);
    sum += own;
    lowest = std::min(lowest, own);
  }
  fmt::print("{:52} {:6.2f} {:7.2f}\n", name, sum / static_cast<double>(spaces.size()), lowest);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::size_t seeds = 20;
  CLI::App app("Scores searches that know what none can know");
  app.add_option("files", files, "recordings to search")->required();
  app.add_option("--seeds", seeds, "searches of each space");
  CLI11_PARSE(app, argc, argv);
  try {
    std::vector<recorded_space> spaces;
    spaces.reserve(files.size());
    for (const std::string& file : files) {
      spaces.push_back(tune::read_recording(std::filesystem::path(file)));
    }
    fmt::print("{:52} {:>6} {:>7}\n", "a search that", "mean", "lowest");
    for (const std::size_t count : {2U, 4U, 8U, 16U}) {
      print(fmt::format("proposes the optimum after {} random configurations", count), spaces,
            seeds, [count](const recorded_space& space, std::uint64_t seed) {
              return optimum_after(space, count, seed);
            });
    }
    for (const bool with_pairs : {false, true}) {
      print(with_pairs ? "knows the effects of all pairs as well"
                       : "knows the effect of each parameter",
            spaces, 1, [with_pairs](const recorded_space& space, std::uint64_t) {
              return effects(space, with_pairs).order();
            });
    }
  } catch (const std::exception& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return 1;
  }
  return 0;
}
