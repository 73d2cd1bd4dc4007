// MPI as a backend, in the module "mpi" (config/modules.hpp). The only files that include <mpi.h> are those of this
// folder.
#pragma once

#include <vector>

#include <mpi.h>
#include <poll.h>

#include "backend/backend.hpp"
#include "backend/endpoint.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace backend {

/// Fills in the version and how a session is opened. That initialises MPI; the session's end finalises it. At most one
/// per process.
extern "C" __attribute__((visibility("default"))) void farandole_mpi_backend(BackendRow& row);

// The collectives of the MPI library itself, on data laid out as backend/data_place.hpp lays it out.

/// `size` in elements, as the operation counts bytes. Empty for an operation that MPI does not have.
CollectiveRun mpi_collective(MPI_Comm communicator, const Schedule& layout, std::int64_t size);

// How a rank waits that shares its processor with others: asleep, until a message may have come.
//
// MPI libraries wait in a loop that looks again and again. With more ranks than processors those loops take the time
// that the others, and the network itself where it is emulated, would need. An idle poll ends when one of the library's
// epoll instances has an event (Open MPI over TCP, with `opal_event_include epoll`), at the latest after its length.

class IdlePoll {
 public:
  /// `longest`: 0 for never. Made once MPI has been initialised.
  explicit IdlePoll(Seconds longest);

  [[nodiscard]] bool is_allowed() const { return longest_ > Seconds(0); }
  /// Returns at once where idling is not allowed.
  void take(Seconds at_most);

 private:
  Seconds longest_;
  std::vector<pollfd> events_;
};

// Messages by MPI_Isend and MPI_Irecv on a communicator of our own.

class MpiEndpoint final : public Endpoint {
 public:
  /// Duplicates the communicator. `idle_poll`, which must outlive it, is how it waits.
  MpiEndpoint(MPI_Comm like, IdlePoll& idle_poll);
  ~MpiEndpoint() override;
  MpiEndpoint(const MpiEndpoint&) = delete;
  MpiEndpoint& operator=(const MpiEndpoint&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  DataPlace& place() override { return place_; }
  void send(std::span<const float> data, int to) override;
  void receive(std::span<float> data, int from) override;
  void wait() override;
  bool is_done() override;
  void idle(Seconds at_most) override { idle_poll_.take(at_most); }
  std::vector<double> allgather_scalar(double number) override;

  [[nodiscard]] MPI_Comm communicator() const { return communicator_; }

 private:
  void wait_for(std::vector<MPI_Request>& requests);

  IdlePoll& idle_poll_;
  HostPlace place_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<MPI_Request> requests_;
};

}}  // namespace farandole::backend
