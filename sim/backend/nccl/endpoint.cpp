#include "backend/nccl/endpoint.hpp"

#include "backend/nccl/check.hpp"

namespace farandole { inline namespace backend {

NcclEndpoint::NcclEndpoint(const ncclUniqueId& id, int rank, int ranks, int device)
    : rank_(rank), ranks_(ranks), place_(device) {
  expect(ncclCommInitRank(&communicator_, ranks, id, rank), "joining the NCCL communicator");
  void* memory = nullptr;
  expect(cudaMalloc(&memory, static_cast<std::size_t>(ranks + 1) * sizeof(double)), "allocating device memory");
  numbers_ = static_cast<double*>(memory);
}

NcclEndpoint::~NcclEndpoint() {
  cudaFree(numbers_);
  if (communicator_ != nullptr) ncclCommDestroy(communicator_);
}

void NcclEndpoint::open_group() {
  if (in_group_) return;
  expect(ncclGroupStart(), "opening an NCCL group");
  in_group_ = true;
}

void NcclEndpoint::send(std::span<const float> data, int to) {
  open_group();
  expect(ncclSend(data.data(), data.size(), ncclFloat, to, communicator_, place_.stream()), "ncclSend");
}

void NcclEndpoint::receive(std::span<float> data, int from) {
  open_group();
  expect(ncclRecv(data.data(), data.size(), ncclFloat, from, communicator_, place_.stream()), "ncclRecv");
}

void NcclEndpoint::wait() {
  if (in_group_) expect(ncclGroupEnd(), "closing an NCCL group");
  in_group_ = false;
}

bool NcclEndpoint::is_done() {
  wait();
  return place_.is_done();
}

std::vector<double> NcclEndpoint::allgather_scalar(double number) {
  std::vector<double> numbers(static_cast<std::size_t>(ranks_));
  expect(cudaMemcpyAsync(numbers_, &number, sizeof number, cudaMemcpyHostToDevice, place_.stream()),
         "copying to a device");
  expect(ncclAllGather(numbers_, numbers_ + 1, 1, ncclDouble, communicator_, place_.stream()), "ncclAllGather");
  expect(cudaMemcpyAsync(numbers.data(), numbers_ + 1, numbers.size() * sizeof(double), cudaMemcpyDeviceToHost,
                         place_.stream()),
         "copying from a device");
  place_.synchronise();
  return numbers;
}

}}  // namespace farandole::backend
