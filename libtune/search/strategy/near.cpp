// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "libtune/search/space/neighbours.hpp"
#include "libtune/search/strategy/strategies.hpp"

namespace tune {
namespace {

class near_strategy final : public strategy {
 public:
  near_strategy(search_space searched, const strategy_options& options)
      : strategy(std::move(searched), options),
        has_start_(!options.warm_start.empty()),
        proposed_(options.warm_start.begin(), options.warm_start.end()) {
    if (has_start_) expand(options.warm_start.front());
  }

  bool learns() const noexcept override { return has_start_; }
  bool covers() const noexcept override { return !has_start_; }

 private:
  /// A configuration and its score.
  struct find {
    std::size_t index;
    double score;
  };

  std::optional<std::size_t> do_ask() override {
    while (!around_.empty()) {
      const std::size_t next = around_.back();
      around_.pop_back();
      if (proposed_.insert(next).second) return next;
    }
    // Does not wait for pending results: with a start they rarely matter.
    if (has_start_ && end_early()) return std::nullopt;
    while (next_ < space().size() && !proposed_.insert(next_).second) ++next_;
    return next_ < space().size() ? std::optional(next_) : std::nullopt;
  }

  void do_tell(std::size_t index, std::optional<double> score) override {
    if (!score || (best_ && best_->score <= *score)) return;
    best_ = {index, *score};
    if (has_start_) expand(index);
  }

  // The neighbours of the latest one come first.
  void expand(std::size_t index) {
    if (!expanded_.insert(index).second) return;
    std::vector<std::size_t> more = neighbours(space(), index, neighbourhood::hamming);
    std::ranges::reverse(more);
    around_.insert(around_.end(), more.begin(), more.end());
  }

  bool has_start_;
  std::unordered_set<std::size_t> proposed_;
  std::unordered_set<std::size_t> expanded_;
  std::vector<std::size_t> around_;  // still to be proposed, the next one last
  std::optional<find> best_;
  std::size_t next_ = 0;  // in the order of the space, used when nothing else is left
};

}  // namespace

std::unique_ptr<strategy> detail::make_near(const search_space& space,
                                            const strategy_options& with) {
  return std::make_unique<near_strategy>(space, with);
}

}  // namespace tune
