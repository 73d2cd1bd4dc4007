#include "backend/mpi/endpoint.hpp"

namespace farandole {
namespace {

constexpr int tag = 1;

}  // namespace

MpiEndpoint::MpiEndpoint() {
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &ranks_);
}

MpiEndpoint::~MpiEndpoint() {
  MPI_Comm_free(&communicator_);
}

void MpiEndpoint::send(std::span<const float> data, int to) {
  MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_FLOAT, to, tag, communicator_, &requests_.emplace_back());
}

void MpiEndpoint::receive(std::span<float> data, int from) {
  MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_FLOAT, from, tag, communicator_, &requests_.emplace_back());
}

void MpiEndpoint::wait() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
}

std::vector<double> MpiEndpoint::everyones(double number) {
  std::vector<double> numbers(static_cast<std::size_t>(ranks_));
  MPI_Allgather(&number, 1, MPI_DOUBLE, numbers.data(), 1, MPI_DOUBLE, communicator_);
  return numbers;
}

}  // namespace farandole
