#include "backend/nccl/endpoint.hpp"

#include "backend/nccl/add.hpp"
#include "backend/nccl/check.hpp"

namespace farandole { inline namespace backend {
DevicePlace::DevicePlace(int device) {
  expect(cudaSetDevice(device), "taking a CUDA device");
  expect(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a CUDA stream");
  expect(cudaEventCreate(&begin_), "making a CUDA event");
  expect(cudaEventCreate(&end_), "making a CUDA event");
}

DevicePlace::~DevicePlace() {
  cudaEventDestroy(end_);
  cudaEventDestroy(begin_);
  cudaStreamDestroy(stream_);
}

void DevicePlace::synchronise() {
  expect(cudaStreamSynchronize(stream_), "waiting for a CUDA stream");
}

bool DevicePlace::is_done() const {
  const cudaError_t answer = cudaStreamQuery(stream_);
  if (answer == cudaErrorNotReady) return false;
  expect(answer, "asking a CUDA stream");
  return true;
}

Room DevicePlace::allocate(std::size_t floats) {
  void* memory = nullptr;
  if (floats > 0) {
    expect(cudaMalloc(&memory, floats * sizeof(float)), "allocating device memory");
    expect(cudaMemsetAsync(memory, 0, floats * sizeof(float), stream_), "clearing device memory");
  }
  return {std::shared_ptr<float>(static_cast<float*>(memory), [](float* data) { cudaFree(data); }), floats};
}

void DevicePlace::upload(std::span<const float> from_host, std::span<float> to) {
  expect(cudaMemcpyAsync(to.data(), from_host.data(), from_host.size_bytes(), cudaMemcpyHostToDevice, stream_),
         "copying to a device");
  synchronise();  // the host's copy may go now
}

void DevicePlace::download(std::span<const float> from, std::span<float> to_host) {
  expect(cudaMemcpyAsync(to_host.data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToHost, stream_),
         "copying from a device");
  synchronise();
}

void DevicePlace::copy(std::span<const float> from, std::span<float> to) {
  expect(cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToDevice, stream_),
         "copying on a device");
}

void DevicePlace::add(std::span<const float> summands, std::span<float> sums) {
  expect(add_on_device(summands.data(), sums.data(), sums.size(), stream_), "adding on a device");
}

Seconds DevicePlace::time(const std::function<void()>& act) {
  expect(cudaEventRecord(begin_, stream_), "recording a CUDA event");
  act();
  expect(cudaEventRecord(end_, stream_), "recording a CUDA event");
  expect(cudaEventSynchronize(end_), "waiting for a CUDA event");
  float milliseconds = 0;
  expect(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading CUDA events");
  return Seconds(static_cast<double>(milliseconds) * 1e-3);
}

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
