#include <stdexcept>

#include "backend/nccl/bootstrap.hpp"

#ifdef FARANDOLE_WITH_MPI
#include <mpi.h>
#endif

namespace farandole { inline namespace backend {

#ifdef FARANDOLE_WITH_MPI
namespace {

class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap() {
    if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) throw std::runtime_error("MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank_);
    MPI_Comm_free(&node);
  }
  ~MpiBootstrap() override { MPI_Finalize(); }
  MpiBootstrap(const MpiBootstrap&) = delete;
  MpiBootstrap& operator=(const MpiBootstrap&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  [[nodiscard]] int local_rank() const override { return local_rank_; }

  ncclUniqueId share(ncclUniqueId own) override {
    MPI_Bcast(own.internal, static_cast<int>(sizeof own.internal), MPI_CHAR, 0, MPI_COMM_WORLD);
    return own;
  }

  void abandon() override { MPI_Abort(MPI_COMM_WORLD, 1); }

 private:
  int rank_ = 0;
  int ranks_ = 1;
  int local_rank_ = 0;
};

}  // namespace

std::unique_ptr<Bootstrap> mpi_bootstrap() {
  return std::make_unique<MpiBootstrap>();
}
#else
std::unique_ptr<Bootstrap> mpi_bootstrap() {
  return nullptr;
}
#endif

}}  // namespace farandole::backend
