// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "libtune/search/combination.hpp"

namespace tune::detail {

/// What a space knows of its struct: how a candidate gets into it, and the restrictions.
template <class Tuning>
struct tuning_model {
  Tuning defaults;
  std::vector<std::function<void(Tuning&, std::size_t candidate)>> setters;  // for each parameter
  std::vector<std::function<bool(const Tuning&)>> restrictions;
};

/// A Tuning that enumeration changes in place, one member at a time.
template <class Tuning>
class tuning_combination final : public combination {
 public:
  explicit tuning_combination(std::shared_ptr<const tuning_model<Tuning>> model)
      : model_(std::move(model)), tuning_(model_->defaults) {}

 private:
  void do_set(std::size_t parameter, std::size_t candidate) override {
    model_->setters[parameter](tuning_, candidate);
  }
  bool do_allowed_by(std::size_t restriction) const override {
    return model_->restrictions[restriction](tuning_);
  }

  std::shared_ptr<const tuning_model<Tuning>> model_;
  Tuning tuning_;
};

}  // namespace tune::detail
