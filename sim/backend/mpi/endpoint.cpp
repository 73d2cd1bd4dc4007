#include "backend/mpi/session.hpp"

namespace farandole { inline namespace backend {
namespace {

constexpr int tag = 1;

/// Open MPI looks at the requests first and at the network afterwards: only a second look sees what has come.
bool all_done(std::vector<MPI_Request>& requests) {
  int done = 0;
  for (int look = 0; look < 2 && done == 0; ++look) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  }
  return done != 0;
}

}  // namespace

MpiEndpoint::MpiEndpoint(MPI_Comm like, IdlePoll& idle_poll) : idle_poll_(idle_poll) {
  MPI_Comm_dup(like, &communicator_);
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

void MpiEndpoint::wait_for(std::vector<MPI_Request>& requests) {
  if (idle_poll_.is_allowed()) {
    while (!all_done(requests)) idle_poll_.take(Seconds::infinity());
  } else {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
}

void MpiEndpoint::wait() {
  wait_for(requests_);
  requests_.clear();
}

bool MpiEndpoint::is_done() {
  if (!all_done(requests_)) return false;
  requests_.clear();
  return true;
}

std::vector<double> MpiEndpoint::allgather_scalar(double number) {
  std::vector<double> numbers(static_cast<std::size_t>(ranks_));
  std::vector<MPI_Request> request(1);
  MPI_Iallgather(&number, 1, MPI_DOUBLE, numbers.data(), 1, MPI_DOUBLE, communicator_, request.data());
  wait_for(request);
  return numbers;
}

}}  // namespace farandole::backend
