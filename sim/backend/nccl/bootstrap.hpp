// How ranks find one another before NCCL can: by MPI, or by a file that all can read.
//
// By MPI where the program was built with one. Else by a file: rank and number of ranks are what the launcher says in
// the environment (Open MPI, MPICH and Hydra, Slurm, PALS, or RANK and WORLD_SIZE), one rank where it says nothing;
// rank 0 writes its ncclUniqueId, the others wait for it.
#pragma once

#include <filesystem>
#include <memory>

#include <nccl.h>

namespace farandole { inline namespace backend {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  [[nodiscard]] virtual int local_rank() const = 0;
  /// Rank 0's, on all ranks; every rank asks as often, in the same order.
  virtual ncclUniqueId share(ncclUniqueId own) = 0;
  /// Ends the ranks that wait for this one.
  virtual void abandon() = 0;
};

/// InputError where several ranks were started and there is no file to meet at. `file`: none where it is empty.
std::unique_ptr<Bootstrap> file_bootstrap(const std::filesystem::path& file);

/// Initialises MPI until it is destroyed. Null where the program was built without it.
std::unique_ptr<Bootstrap> mpi_bootstrap();

}}  // namespace farandole::backend
