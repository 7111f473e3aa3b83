// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/interruption.hpp"

#include <atomic>

namespace tune::cli {
namespace {

std::atomic<bool> came = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

extern "C" void note_interruption(int) {
  came = true;
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
}

}  // namespace

interruption::interruption() {
  came = false;
  struct sigaction noting {};
  noting.sa_handler = note_interruption;
  ::sigaction(SIGINT, &noting, &before_interrupt_);
  ::sigaction(SIGTERM, &noting, &before_terminate_);
}

interruption::~interruption() {
  ::sigaction(SIGINT, &before_interrupt_, nullptr);
  ::sigaction(SIGTERM, &before_terminate_, nullptr);
}

bool interruption::has_come() noexcept { return came; }

}  // namespace tune::cli
