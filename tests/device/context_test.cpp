// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/context.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/device_memory.hpp"
#include "libtune/device/image.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/testing/fake_device.hpp"

namespace context_test {

using tune::managed_memory_kind;
using tune::mapped_memory;
using tune::detail::memory_quota;
using tune::detail::memory_quota_scope;
using tune::detail::reclaim_gate;

TEST_CASE("a buffer of no bytes is refused before the device is asked") {
  const tune::testing::fake_device fake;
  CHECK_THROWS_WITH_AS(fake.device().create_context().create_buffer(0),
                       doctest::Contains("at least one byte"), tune::argument_error);
  CHECK(fake.calls(tune::testing::fake_call::allocate) == 0);
}

TEST_CASE("what was made from a device keeps it") {
  std::optional<tune::testing::fake_device> fake(std::in_place);
  const tune::buffer buffer = fake->device().create_context().create_buffer(4);
  fake.reset();
  CHECK(buffer.size_bytes() == 4);
  CHECK(buffer.impl()->context()->info().identity.name == "fake device");
}

TEST_CASE("copies of a handle mean the same object") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  const tune::context copy = context;
  CHECK(copy == context);
  const tune::buffer buffer = context.create_buffer(4);
  CHECK(buffer == tune::buffer(buffer));
  CHECK_FALSE(buffer == context.create_buffer(4));
}

TEST_CASE("a sub-buffer says what is wrong with it before the device is asked") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  const tune::buffer whole = context.create_buffer(256);
  CHECK_THROWS_WITH_AS(context.create_sub_buffer(whole, 192, 65),
                       "a sub-buffer of 65 bytes at 192 leaves its buffer of 256 bytes",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(context.create_sub_buffer(whole, 32, 1),
                       doctest::Contains("aligned to the 64 bytes of device 'fake device'"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(fake.device().create_context().create_sub_buffer(whole, 0, 1),
                       doctest::Contains("another context"), tune::argument_error);
}

struct bench {
  explicit bench(managed_memory_kind kind = managed_memory_kind::mapped)
      : fake({.managed_memory = kind}) {}

  int first_on_device() {
    int value = 0;
    queue.read(data, &value, sizeof value);
    return value;
  }
  static int& first(const mapped_memory& memory) { return *static_cast<int*>(memory.data()); }

  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::buffer data = context.create_managed_buffer(64);
};

TEST_CASE_FIXTURE(bench, "what the host wrote is there when the mapping ends, and not before") {
  queue.zero(data, 64);
  {
    const mapped_memory memory = queue.map(data);
    CHECK(bench::first(memory) == 0);
    bench::first(memory) = 5;
    CHECK(first_on_device() == 0);
  }
  CHECK(first_on_device() == 5);
}

TEST_CASE_FIXTURE(bench, "a mapping that moves ends once, with the last that has it") {
  std::optional<mapped_memory> first = queue.map(data);
  std::optional<mapped_memory> second(std::move(*first));
  CHECK(first->data() == nullptr);
  CHECK(first->size_bytes() == 0);
  first.reset();
  bench::first(*second) = 7;
  second.reset();
  CHECK(first_on_device() == 7);
}

TEST_CASE_FIXTURE(bench, "a mapping that is replaced ends first") {
  mapped_memory memory = queue.map(data);
  bench::first(memory) = 9;
  const tune::buffer other = context.create_managed_buffer(32);
  memory = queue.map(other);
  CHECK(first_on_device() == 9);
  CHECK(memory.size_bytes() == 32);
}

TEST_CASE("direct memory is mapped where it is, after all that was enqueued") {
  bench direct(managed_memory_kind::direct);
  const auto finishes = [&] { return direct.fake.calls(tune::testing::fake_call::finish); };
  const mapped_memory memory = direct.queue.map(direct.data);
  CHECK(memory.data() == direct.data.host_data());
  CHECK(finishes() == 1);
  const mapped_memory again = direct.queue.map(direct.data, false);
  CHECK(finishes() == 1);
}

TEST_CASE_FIXTURE(bench, "a failure leaves map, and nothing is mapped") {
  fake.fail_next(tune::testing::fake_call::finish);
  CHECK_THROWS_AS((void)queue.map(data), tune::device_error);
  CHECK_NOTHROW((void)queue.map(data));
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct small_device {
  small_device() : fake(options()), context(fake.device().create_context()) {}

  static tune::testing::fake_device_options options() {
    tune::testing::fake_device_options options;
    options.limits.global_memory_bytes = 16 * mebibyte;
    options.limits.max_allocation_bytes = 12 * mebibyte;
    return options;
  }

  tune::buffer allocate(std::size_t mebibytes) const {
    return context.create_buffer(mebibytes * mebibyte);
  }

  tune::testing::fake_device fake;
  tune::context context;
};

TEST_CASE("a context tells the memory of its device, that of other processes too") {
  const small_device small;
  const tune::context other = small.fake.device().create_context();
  std::optional<tune::buffer> a = small.allocate(3);
  const tune::buffer b = other.create_managed_buffer(2 * mebibyte);
  const tune::buffer part = small.context.create_sub_buffer(*a, 0, mebibyte);
  small.fake.set_foreign_bytes(mebibyte);
  tune::memory_figures now = small.context.memory();
  CHECK(now.total_bytes == 16 * mebibyte);
  CHECK(now.free_bytes == 10 * mebibyte);
  CHECK(now.held_bytes == 5 * mebibyte);
  CHECK(now.is_measured);
  a.reset();
  CHECK(small.context.memory().held_bytes == 5 * mebibyte);  // the part keeps it
}

TEST_CASE("what a thread allocates counts for its quota until it is released, on any thread") {
  const small_device small;
  const auto quota = std::make_shared<memory_quota>(4 * mebibyte);
  std::optional<tune::buffer> kept;
  {
    const memory_quota_scope scope(small.context.device().impl(), quota);
    kept = small.allocate(3);
    CHECK(quota->held() == 3 * mebibyte);
    CHECK_THROWS_WITH_AS(small.allocate(2), doctest::Contains("may hold 4194304 bytes"),
                         tune::device_error);
    CHECK(quota->refusals() == 1);
    CHECK(quota->reach_at_refusal() == 4 * mebibyte);
    const tune::context elsewhere = small_device().context;
    const tune::buffer not_counted = elsewhere.create_buffer(8 * mebibyte);
    CHECK(quota->held() == 3 * mebibyte);
  }
  const tune::buffer applications = small.allocate(4);
  CHECK(quota->held() == 3 * mebibyte);
  std::thread([&] { kept.reset(); }).join();
  CHECK(quota->held() == 0);
  CHECK(quota->most_held() == 3 * mebibyte);
}

TEST_CASE("the quota of a context counts for all threads, and that of a thread before it") {
  const small_device small;
  const auto of_context = std::make_shared<memory_quota>(8 * mebibyte);
  const auto of_thread = std::make_shared<memory_quota>(8 * mebibyte);
  small.context.impl()->set_quota(of_context);
  std::optional<tune::buffer> a;
  std::thread([&] { a = small.allocate(2); }).join();
  const memory_quota_scope scope(small.context.device().impl(), of_thread);
  const tune::buffer b = small.allocate(1);
  CHECK(of_context->held() == 2 * mebibyte);
  CHECK(of_thread->held() == mebibyte);
}

TEST_CASE("a quota leaves the application a reserve, however much others have taken meanwhile") {
  const small_device small;
  const auto quota = std::make_shared<memory_quota>(12 * mebibyte, 4 * mebibyte);
  const memory_quota_scope scope(small.context.device().impl(), quota);
  const tune::buffer a = small.allocate(4);
  small.fake.set_foreign_bytes(8 * mebibyte);
  CHECK(quota->reach(*small.context.impl()) == 6 * mebibyte);
  CHECK_THROWS_WITH_AS(small.allocate(3), doctest::Contains("leaves 2097152 of them"),
                       tune::device_error);
  CHECK(quota->held() == 4 * mebibyte);
  const tune::buffer b = small.allocate(2);
}

TEST_CASE("a failure that more memory would not change is no refusal") {
  const small_device small;
  const auto quota = std::make_shared<memory_quota>(100 * mebibyte);
  const memory_quota_scope scope(small.context.device().impl(), quota);
  CHECK_THROWS_AS(small.allocate(13), tune::device_error);  // a buffer has 12 at most
  CHECK(quota->refusals() == 0);
  CHECK(quota->held() == 0);
  small.fake.fail_next(tune::testing::fake_call::allocate);
  CHECK_THROWS_AS(small.allocate(1), tune::device_error);
  CHECK(quota->refusals() == 0);
  CHECK(quota->held() == 0);
  small.fake.set_foreign_bytes(10 * mebibyte);
  CHECK_THROWS_AS(small.allocate(7), tune::device_error);
  CHECK(quota->refusals() == 1);
}

/// A holder of memory that gives it back when it is asked.
struct holder {
  holder(const small_device& small, std::size_t mebibytes, std::string name, std::string& asked)
      : memory(small.allocate(mebibytes)),
        reclaimer(
            small.context.device(),
            [this] { return memory ? memory->size_bytes() : std::size_t{0}; },
            [this, name = std::move(name), &asked](std::size_t) {
              asked += name;
              memory.reset();
              return nullptr;
            }) {}

  std::optional<tune::buffer> memory;
  tune::memory_reclaimer reclaimer;
};

TEST_CASE("who holds most is asked first, and no more than needed are asked") {
  const small_device small;
  std::string asked;
  holder a(small, 2, "a", asked);
  holder b(small, 8, "b", asked);
  holder c(small, 4, "c", asked);
  std::vector<tune::buffer> taken{small.allocate(2)};
  CHECK(asked.empty());
  taken.push_back(small.allocate(4));
  CHECK(asked == "b");
  taken.push_back(small.allocate(8));
  CHECK(asked == "bc");
  CHECK_THROWS_AS(small.allocate(4), tune::device_error);
  CHECK(asked == "bca");
  CHECK_THROWS_AS(small.allocate(4), tune::device_error);
  CHECK(asked == "bca");
}

TEST_CASE("all kinds of device memory are reclaimed for, and nothing else") {
  const small_device small;
  std::string asked;
  const auto full = [&] { return std::make_unique<holder>(small, 12, "x", asked); };
  std::unique_ptr<holder> held = full();
  const tune::buffer managed = small.context.create_managed_buffer(6 * mebibyte);
  CHECK(asked == "x");
  held.reset();
  SUBCASE("a search does without") {
    std::optional<holder> other(std::in_place, small, 8, "y", asked);
    const memory_quota_scope scope(small.context.device().impl(),
                                   std::make_shared<memory_quota>(16 * mebibyte));
    CHECK_THROWS_AS(small.allocate(6), tune::device_error);
    CHECK(asked == "x");
  }
  SUBCASE("what can never fit") {
    std::optional<holder> other(std::in_place, small, 8, "y", asked);
    CHECK_THROWS_AS(small.allocate(13), tune::device_error);
    CHECK(asked == "x");
  }
  SUBCASE("another failure") {
    std::optional<holder> other(std::in_place, small, 8, "y", asked);
    small.fake.fail_next(tune::testing::fake_call::allocate);
    CHECK_THROWS_AS(small.allocate(1), tune::device_error);
    CHECK(asked == "x");
  }
  SUBCASE("another device") {
    const small_device other;
    const holder elsewhere(other, 8, "y", asked);
    CHECK_THROWS_AS(small.allocate(12), tune::device_error);
    CHECK(asked == "x");
  }
}

TEST_CASE("what give_back returns is kept until the allocation has been made") {
  const small_device small;
  std::optional<tune::buffer> held = small.allocate(12);
  std::size_t free_at_end = 0;
  const tune::memory_reclaimer reclaimer(
      small.context.device(), [] { return std::size_t{1}; },
      [&](std::size_t bytes) {
        CHECK(bytes == 8 * mebibyte);
        held.reset();
        return std::shared_ptr<const void>(
            &held, [&](const void*) { free_at_end = small.context.memory().free_bytes; });
      });
  const tune::buffer taken = small.allocate(8);
  CHECK(free_at_end == 8 * mebibyte);
}

TEST_CASE("a gate lets the memory be, until those who asked have theirs") {
  const auto gate = std::make_shared<reclaim_gate>();
  CHECK_FALSE(gate->is_wanted());
  std::atomic<bool> has_asked{false};
  std::atomic<bool> taken_anew{false};
  std::thread application([&] {
    const auto kept = reclaim_gate::ask(gate);
    has_asked = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(taken_anew);
  });
  while (!gate->is_wanted()) std::this_thread::yield();
  CHECK_FALSE(has_asked);
  gate->give_back();
  taken_anew = true;
  application.join();
  CHECK_FALSE(gate->is_wanted());
  gate->close();
  CHECK(reclaim_gate::ask(gate) == nullptr);
}

TEST_CASE("a search that ends wakes those who wait for its memory") {
  const auto gate = std::make_shared<reclaim_gate>();
  std::thread application([&] { static_cast<void>(reclaim_gate::ask(gate)); });
  while (!gate->is_wanted()) std::this_thread::yield();
  gate->close();
  application.join();
}

TEST_CASE("reclaimers come and go while many threads allocate") {
  const small_device small;
  std::atomic<bool> over{false};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        try {
          const tune::buffer taken = small.allocate(2);
        } catch (const tune::device_error&) {
          ++failures;
        }
      }
    });
  }
  std::thread holds([&] {
    while (!over) {
      std::mutex mutex;
      std::optional<tune::buffer> memory;
      const tune::memory_reclaimer reclaimer(
          small.context.device(),
          [&] {
            const std::lock_guard lock(mutex);
            return memory ? memory->size_bytes() : std::size_t{0};
          },
          [&](std::size_t) {
            const std::lock_guard lock(mutex);
            memory.reset();
            return nullptr;
          });
      try {
        const memory_quota_scope scope(small.context.device().impl(),
                                       std::make_shared<memory_quota>(16 * mebibyte));
        tune::buffer made = small.allocate(10);
        const std::lock_guard lock(mutex);
        memory = std::move(made);
      } catch (const tune::device_error&) {
      }
    }
  });
  for (std::thread& each : threads) each.join();
  over = true;
  holds.join();
  CHECK(failures == 0);
  CHECK(small.fake.live_bytes() == 0);
}

TEST_CASE("a capture on this thread is seen, and one of the application") {
  const small_device small;
  tune::command_queue queue = small.context.create_command_queue();
  const auto& impl = *small.context.impl();
  CHECK(impl.find_capture().empty());
  const auto graph = queue.capture([&] {
    CHECK(impl.find_capture() == "a command_queue::capture of this thread");
    std::thread([&] { CHECK(impl.find_capture().empty()); }).join();
  });
  REQUIRE(graph);
  CHECK(impl.find_capture().empty());
  CHECK_THROWS_AS(queue.capture([] { throw tune::error("no"); }), tune::error);
  CHECK(impl.find_capture().empty());
  small.fake.set_foreign_capture(true);
  CHECK_FALSE(impl.find_capture().empty());
}

TEST_CASE("an allocation is tried again where those that held memory have released it since") {
  const tune::testing::fake_device fake;
  const tune::device device = fake.device();
  int tries = 0;
  const auto second = [&] { return ++tries > 1; };
  CHECK_FALSE(tune::detail::make_reclaiming(*device.impl(), 8, second));
  CHECK(tries == 1);
  std::optional<tune::memory_reclaimer> released;
  const auto hold = [&] {
    released.emplace(
        device, [] { return std::size_t{0}; },
        [](std::size_t) { return std::shared_ptr<const void>(); });
  };
  hold();
  tries = 0;
  CHECK(tune::detail::make_reclaiming(*device.impl(), 8, second));
  CHECK(tries == 2);
  CHECK_FALSE(tune::detail::make_reclaiming(*device.impl(), 8, [] { return false; }));
  tries = 0;
  const auto until_it_ended = [&] {
    if (++tries == 1) released.reset();
    return tries == 2;
  };
  CHECK_MESSAGE(tune::detail::make_reclaiming(*device.impl(), 8, until_it_ended),
                "a search ended since");
}

TEST_CASE("an allocation asks what takes the memory that another has given back") {
  const small_device small;
  std::string asked;
  std::optional<holder> next;
  std::optional<tune::buffer> held = small.allocate(12);
  const tune::memory_reclaimer first(
      small.context.device(), [] { return std::size_t{1}; },
      [&](std::size_t) {
        asked += "first ";
        held.reset();
        next.emplace(small, 12, "next", asked);
        return std::shared_ptr<const void>();
      });
  CHECK_NOTHROW(static_cast<void>(small.allocate(8)));
  CHECK(asked == "first next");
}

TEST_CASE("who holds memory and gives none is asked once") {
  const small_device small;
  const tune::buffer most = small.allocate(12);
  int asked = 0;
  const tune::memory_reclaimer never(
      small.context.device(), [] { return std::size_t{1}; },
      [&](std::size_t) {
        ++asked;
        return std::shared_ptr<const void>();
      });
  CHECK_THROWS_AS(small.allocate(8), tune::device_error);
  CHECK(asked == 1);
}

}  // namespace context_test
