#include "backend/data_place.hpp"

#include <array>
#include <chrono>

#include "backend/rank_program.hpp"
#include "collective/specification.hpp"

namespace farandole { inline namespace backend {
Room HostPlace::allocate(std::size_t floats) {
  auto owner = std::make_shared<std::vector<float>>(floats);
  float* const first = owner->data();
  return {std::shared_ptr<float>(std::move(owner), first), floats};
}

void HostPlace::add(std::span<const float> summands, std::span<float> sums) {
  std::ranges::transform(sums, summands, sums.begin(), std::plus<>());
}

Seconds HostPlace::time(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

namespace {

constexpr int period = 13;

/// What element i of the chunk must be, for i mod the period.
std::array<float, period> promised_numbers(const Schedule& layout, Chunk chunk) {
  std::array<float, period> numbers{};
  for (int source = 0; source < layout.ranks; ++source) {
    if (!contributes(layout, source, chunk)) continue;
    for (int i = 0; i < period; ++i) numbers[static_cast<std::size_t>(i)] += test_number(source, i);
  }
  return numbers;
}

}  // namespace

float test_number(int rank, std::int64_t element) {
  return static_cast<float>(1 + (element + 7 * std::int64_t{rank}) % period);
}

std::vector<float> test_data(const Schedule& layout, int rank, std::int64_t size) {
  const ChunkSizes sizes(Bytes(static_cast<double>(size)), layout);
  const float nothing = sums(layout.operation) ? 0.0F : -1e9F;
  const std::int64_t array = begin_of(sizes, layout.chunks / layout.copies);
  std::vector<float> data(static_cast<std::size_t>(begin_of(sizes, layout.chunks)), nothing);
  for (Chunk chunk = 0; chunk < layout.chunks; ++chunk) {
    if (!contributes(layout, rank, first_copy(layout, chunk))) continue;
    for (std::int64_t i = begin_of(sizes, chunk); i < begin_of(sizes, chunk + 1); ++i) {
      data[static_cast<std::size_t>(i)] = test_number(rank, i % array);
    }
  }
  return data;
}

std::int64_t count_wrong(const Schedule& layout, int rank, std::int64_t size, const std::vector<float>& data) {
  if (layout.operation == Operation::barrier) return 0;  // it promises that all have come, and no numbers
  const ChunkSizes sizes(Bytes(static_cast<double>(size)), layout);
  std::int64_t wrong = 0;
  for (Chunk chunk = 0; chunk < layout.chunks; ++chunk) {
    if (!has_postcondition(layout, rank, chunk)) continue;
    const auto numbers = promised_numbers(layout, chunk);
    for (std::int64_t i = begin_of(sizes, chunk); i < begin_of(sizes, chunk + 1); ++i) {
      wrong += data[static_cast<std::size_t>(i)] == numbers[static_cast<std::size_t>(i % period)] ? 0 : 1;
    }
  }
  return wrong;
}

Schedule plain_layout(Operation operation, int ranks, int root) {
  Schedule layout;
  layout.operation = operation;
  layout.algorithm = "library";
  layout.ranks = ranks;
  layout.root = root;
  switch (operation) {
    case Operation::reduce_scatter:
    case Operation::allgather:
    case Operation::gather:
    case Operation::scatter:
      layout.chunks = ranks;
      break;
    case Operation::alltoall:
      layout.chunks = Chunk{ranks} * ranks;
      layout.rows = ranks;
      break;
    default:
      break;
  }
  return layout;
}

}}  // namespace farandole::backend
