// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/allocation_counter.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace allocation_counter_test {

using tune::testing::allocation_counter;

TEST_CASE("what allocates nothing counts nothing") {
  std::vector<int> values;
  values.reserve(10);
  const allocation_counter counter;
  for (int i = 0; i < 10; ++i) values.push_back(i);
  CHECK(counter.count() == 0);
}

TEST_CASE("every form of operator new counts") {
  const allocation_counter counter;
  ::operator delete(::operator new(3));
  ::operator delete[](::operator new[](0));
  ::operator delete(::operator new(3, std::nothrow), std::nothrow);
  ::operator delete[](::operator new[](3, std::nothrow), std::nothrow);
  CHECK(counter.count() == 4);
  const std::align_val_t aligned{64};
  ::operator delete(::operator new(3, aligned), aligned);
  ::operator delete[](::operator new[](0, aligned), aligned);
  ::operator delete(::operator new(3, aligned, std::nothrow), aligned, std::nothrow);
  ::operator delete[](::operator new[](3, aligned, std::nothrow), aligned, std::nothrow);
  CHECK(counter.count() == 8);
}

TEST_CASE("containers are counted, and a later counter begins at nothing") {
  const allocation_counter first;
  const std::vector<int> values(1000, 1);
  CHECK(first.count() == 1);
  const allocation_counter second;
  CHECK(second.count() == 0);
  CHECK(values.back() == 1);
}

TEST_CASE("aligned memory is aligned") {
  struct alignas(256) wide {
    char data[300];
  };
  const auto pointer = std::make_unique<wide>();
  CHECK(reinterpret_cast<std::uintptr_t>(pointer.get()) % 256 == 0);
}

TEST_CASE("other threads are not counted") {
  std::size_t others = 0;
  std::size_t before = 0;
  std::size_t after = 0;
  {
    const allocation_counter counter;
    std::thread thread([&others] {
      const allocation_counter own;
      const std::vector<std::string> values(10, std::string(100, 'x'));
      others = own.count();
    });
    before = counter.count();  // what starting a thread takes
    thread.join();
    after = counter.count();
  }
  CHECK(others >= 11);
  CHECK(before == after);
}

}  // namespace allocation_counter_test
