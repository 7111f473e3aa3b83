// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/capture.hpp"

#include "libtune/base/forked_process.hpp"
#include "libtune/extra/capture/capture_core.hpp"
#include "libtune/extra/capture/capture_settings.hpp"
#include "libtune/extra/capture/replay_child.hpp"

namespace tune {

frame_snapshot& frame_snapshot::operator=(frame_snapshot&& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(set_, other.set_);
  return *this;
}

frame_snapshot::~frame_snapshot() {
  if (set_ != nullptr) core_->abandon(*set_);
}

void capture_point::before(frame_snapshot& frame) const noexcept {
  if (frame) detail::take_before(*frame.set_, core_->point(index_), index_);
}

void capture_point::after(frame_snapshot& frame) const noexcept {
  if (frame) detail::take_after(*frame.set_, core_->point(index_), index_);
}

void capture_point::capture_run(frame_snapshot& frame) const {
  before(frame);
  run_();
  after(frame);
}

capture::capture(std::string name, const capture_options& options) {
  detail::refuse_if_forked([] { return "make a capture"; });
  detail::offer_replays();
  capture_options complete = detail::complete_by_environment(options);
  if (complete.folder.empty()) return;
  core_ = std::make_shared<detail::capture_core>(std::move(name), std::move(complete));
}

capture_point capture::add(std::string name, operation& of, capture_point_options options) {
  return add(
      std::move(name), [&of]() -> operation& { return of; }, [&of] { of.run(); },
      std::move(options));
}

capture_point capture::add(std::string name, captured_operation& of,
                           capture_point_options options) {
  return add(
      std::move(name), [&of]() -> operation& { return of.operation(); }, [&of] { of.run(); },
      std::move(options));
}

capture_point capture::add(std::string name, std::function<operation&()> current,
                           std::function<void()> run, capture_point_options options) {
  if (!core_) return {nullptr, 0, std::move(run)};
  const std::size_t index = core_->add(
      {.name = std::move(name), .current = std::move(current), .options = std::move(options)});
  return {core_, index, std::move(run)};
}

void capture::prepare() {
  if (core_) core_->prepare();
}

frame_snapshot capture::begin() noexcept {
  if (!core_) return {};
  detail::frame_set* const set = core_->begin();
  if (set == nullptr) return {};
  return {*core_, *set};
}

void capture::end(frame_snapshot& frame) noexcept {
  if (!frame) return;
  core_->end(*std::exchange(frame.set_, nullptr));
}

void capture::request(std::uint64_t frames) noexcept {
  if (core_) core_->request(frames);
}

capture_counts capture::counts() const noexcept {
  return core_ ? core_->counts() : capture_counts{};
}

std::string capture::last_failure() const { return core_ ? core_->last_failure() : std::string(); }

bool capture::wait(std::chrono::milliseconds longest) const {
  return !core_ || core_->wait(longest);
}

std::size_t capture::snapshot_bytes() const noexcept { return core_ ? core_->snapshot_bytes() : 0; }

}  // namespace tune
