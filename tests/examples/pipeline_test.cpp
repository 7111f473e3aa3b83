// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/pipeline.md and libtune/extra/pipeline/README.md.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <exception>
#include <functional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/extra/pipeline/event_waiter.hpp"
#include "libtune/extra/pipeline/future.hpp"
#include "libtune/extra/pipeline/job_queue.hpp"
#include "libtune/extra/pipeline/resource.hpp"
#include "libtune/extra/pipeline/task.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"

namespace pipeline_test {

constexpr std::size_t bytes = 64;

/// The stages that each frame goes through: it is filled on the device, read back, and sent.
struct stages {
  tune::command_queue queue;
  std::vector<std::uint8_t> host = std::vector<std::uint8_t>(bytes);
  std::vector<int> sent{};
  std::uint8_t next = 0;

  void enqueue(const tune::buffer& buffer) {
    const std::uint8_t value = ++next;
    queue.fill(buffer, bytes, std::as_bytes(std::span(&value, 1)));
    queue.read(buffer, host.data(), bytes, 0, false);
  }
  void send(const tune::buffer&) { sent.push_back(host.back()); }
};

// clang-format off
// [frame]
tune::task<> frame(stages& s, tune::resource_allocation<tune::buffer> turn) {
  tune::buffer& buffer = co_await turn.enter(s.queue);  // the queue waits for the frame before
  s.enqueue(buffer);
  const tune::event end = s.queue.enqueue_marker();
  co_await tune::wait_for_events(end);                  // waits for the device without a thread
  s.send(buffer);
  turn.ready(end);                                      // the next frame may use the buffer
}
// [frame]

// [overlap]
tune::task<> overlapping_frame(stages& s, tune::resource_allocation<tune::buffer> turn,
                               const std::function<void()>& use_result) {
  tune::buffer& buffer = co_await turn.enter(s.queue);
  s.enqueue(buffer);
  const tune::event end = s.queue.enqueue_marker();
  turn.ready(end);  // the next frame enqueues now, and its commands wait for this event
  co_await tune::wait_for_events(end);
  use_result();
}
// [overlap]

// [fail]
tune::task<> careful_frame(stages& s, tune::resource_allocation<tune::buffer> turn,
                           const std::function<void()>& enqueue) {
  try {
    co_await turn.enter(s.queue);
    enqueue();
    turn.ready(s.queue);
  } catch (...) {
    turn.fail(std::current_exception());  // the next frame meets it where it enters
    throw;                                // and finish() throws it here
  }
}
// [fail]
// clang-format on

struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()), s{context.create_command_queue()} {}

  tune::context context;
  stages s;
};

LIBTUNE_DEVICE_TEST_CASE("the page's frames go through the pipeline in order", device) {
  bench on(device);
  const tune::context& context = on.context;
  stages& s = on.s;
  const int frames = 6;
  // clang-format off
  // [run]
  tune::event_loop loop;
  tune::resource<tune::buffer> buffer(context.create_buffer(bytes));
  tune::job_queue jobs;
  for (int i = 0; i < frames; ++i) {
    jobs.add(loop.spawn(frame(s, buffer.acquire())));
    loop.run(jobs.finish(2));  // no more than two frames are under way
  }
  loop.run(jobs.finish());     // throws the error of the first frame that failed
  // [run]
  // clang-format on
  CHECK(s.sent == std::vector<int>{1, 2, 3, 4, 5, 6});
}

LIBTUNE_DEVICE_TEST_CASE("the page's frames overlap", device) {
  bench on(device);
  stages& s = on.s;
  tune::event_loop loop;
  tune::resource<tune::buffer> buffer(on.context.create_buffer(bytes));
  tune::job_queue jobs;
  int used = 0;
  const std::function<void()> use = [&] { ++used; };
  for (int i = 0; i < 4; ++i) {
    jobs.add(loop.spawn(overlapping_frame(s, buffer.acquire(), use)));
  }
  loop.run(jobs.finish());
  CHECK(used == 4);
}

LIBTUNE_DEVICE_TEST_CASE("the page's stages share a buffer on two queues", device) {
  const tune::context context = device.create_context();
  tune::command_queue upload = context.create_command_queue();
  tune::command_queue download = context.create_command_queue();
  tune::event_loop loop;
  const std::vector<std::byte> input(bytes, std::byte{7});
  std::vector<std::byte> output(bytes);
  // clang-format off
  // [use]
  tune::resource<tune::buffer> shared(context.create_buffer(bytes));
  auto copied_in = loop.spawn(shared.use(upload, [&](tune::buffer& buffer) {
    upload.write(buffer, input.data(), bytes, 0, false);
  }));
  auto copied_out = loop.spawn(shared.use(download, [&](tune::buffer& buffer) {
    download.read(buffer, output.data(), bytes, 0, false);
  }));
  loop.run_until(copied_out);
  // [use]
  // clang-format on
  copied_in.get();
  copied_out.get();
  download.finish();
  CHECK(output == input);
}

TEST_CASE("the page's deadline gives up") {
  tune::event_loop loop;
  tune::promise<int> never;
  bool late = false;
  // clang-format off
  // [deadline]
  const auto wait = [&](tune::future<int> result) -> tune::task<> {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    try {
      co_await tune::wait_until(std::move(result), deadline);
    } catch (const tune::deadline_error&) {
      late = true;  // the future is cancelled; tune::shield(result) would protect it
    }
  };
  loop.run(wait(never.get_future()));
  // [deadline]
  // clang-format on
  CHECK(late);
  CHECK(never.get_future().is_cancelled());
}

TEST_CASE("the page's thread waits for its turn") {
  bench on(tune::testing::fake_device().device());
  stages& s = on.s;
  tune::resource<tune::buffer> buffer(on.context.create_buffer(bytes));
  // clang-format off
  // [thread]
  std::thread writer([&, turn = buffer.acquire()]() mutable {
    s.enqueue(turn.enter_blocking(s.queue));
    turn.ready(s.queue);  // after all that the queue has now
  });
  // [thread]
  // clang-format on
  writer.join();
  auto next = buffer.acquire();
  CHECK(next.wait().get().size() == 1);
  next.ready();
}

TEST_CASE("an error of the page's frame is thrown by finish, and passed to the next by fail") {
  bench on(tune::testing::fake_device().device());
  stages& s = on.s;
  tune::event_loop loop;
  tune::resource<tune::buffer> buffer(on.context.create_buffer(bytes));
  tune::job_queue jobs;
  const std::function<void()> fail = [] { throw std::runtime_error("broken"); };
  jobs.add(loop.spawn(careful_frame(s, buffer.acquire(), fail)));
  jobs.add(loop.spawn(frame(s, buffer.acquire())));
  CHECK_THROWS_WITH_AS(loop.run(jobs.finish()), "broken", std::runtime_error);
  CHECK_THROWS_WITH_AS(loop.run(jobs.finish()), "broken", std::runtime_error);
  CHECK(jobs.empty());
  CHECK(s.sent.empty());
}

}  // namespace pipeline_test
