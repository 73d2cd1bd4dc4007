#include <map>

#include "backend/mpi/session.hpp"
#include "backend/rank_program.hpp"

namespace farandole { inline namespace backend {
namespace {

/// Blocks of a buffer, as MPI's vector collectives name them.
struct Blocks {
  std::vector<int> counts;
  std::vector<int> begins;

  void add(const ChunkSizes& sizes, Chunk chunk) {
    begins.push_back(static_cast<int>(begin_of(sizes, chunk)));
    counts.push_back(static_cast<int>(begin_of(sizes, chunk + 1)) - begins.back());
  }
};

struct Call {
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0;
  int count = 0;  // of the whole array
  int root = 0;
  Blocks blocks;  // one of each rank; of an alltoall, what this rank sends
  Blocks coming;  // of an alltoall: what comes from each rank

  [[nodiscard]] int own_count() const { return blocks.counts[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int own_begin() const { return blocks.begins[static_cast<std::size_t>(rank)]; }
};

Call call_of(MPI_Comm communicator, const Schedule& layout, std::int64_t size) {
  Call call{communicator, 0, static_cast<int>(size), layout.root, {}, {}};
  MPI_Comm_rank(communicator, &call.rank);
  const ChunkSizes sizes(Bytes(static_cast<double>(size)), layout);
  for (int peer = 0; peer < layout.ranks; ++peer) {
    if (layout.operation == Operation::alltoall) {
      call.blocks.add(sizes, Chunk{call.rank} * layout.ranks + peer);
      call.coming.add(sizes, Chunk{peer} * layout.ranks + call.rank);
    } else if (layout.chunks == layout.ranks) {
      call.blocks.add(sizes, peer);
    }
  }
  return call;
}

using In = std::span<const float>;
using Out = std::span<float>;

void allreduce(const Call& call, In in, Out out) {
  MPI_Allreduce(in.data(), out.data(), call.count, MPI_FLOAT, MPI_SUM, call.communicator);
}

void reduce(const Call& call, In in, Out out) {
  MPI_Reduce(in.data(), out.data(), call.count, MPI_FLOAT, MPI_SUM, call.root, call.communicator);
}

void reduce_scatter(const Call& call, In in, Out out) {
  MPI_Reduce_scatter(in.data(), out.data() + call.own_begin(), call.blocks.counts.data(), MPI_FLOAT, MPI_SUM,
                     call.communicator);
}

void allgather(const Call& call, In in, Out out) {
  MPI_Allgatherv(in.data() + call.own_begin(), call.own_count(), MPI_FLOAT, out.data(), call.blocks.counts.data(),
                 call.blocks.begins.data(), MPI_FLOAT, call.communicator);
}

void gather(const Call& call, In in, Out out) {
  MPI_Gatherv(in.data() + call.own_begin(), call.own_count(), MPI_FLOAT, out.data(), call.blocks.counts.data(),
              call.blocks.begins.data(), MPI_FLOAT, call.root, call.communicator);
}

void scatter(const Call& call, In in, Out out) {
  MPI_Scatterv(in.data(), call.blocks.counts.data(), call.blocks.begins.data(), MPI_FLOAT,
               out.data() + call.own_begin(), call.own_count(), MPI_FLOAT, call.root, call.communicator);
}

void alltoall(const Call& call, In in, Out out) {
  MPI_Alltoallv(in.data(), call.blocks.counts.data(), call.blocks.begins.data(), MPI_FLOAT, out.data(),
                call.coming.counts.data(), call.coming.begins.data(), MPI_FLOAT, call.communicator);
}

void broadcast(const Call& call, In /*in*/, Out out) {
  MPI_Bcast(out.data(), call.count, MPI_FLOAT, call.root, call.communicator);
}

void barrier(const Call& call, In /*in*/, Out /*out*/) {
  MPI_Barrier(call.communicator);
}

using Function = void (*)(const Call&, In, Out);

}  // namespace

CollectiveRun mpi_collective(MPI_Comm communicator, const Schedule& layout, std::int64_t size) {
  static const std::map<Operation, Function> functions{
      {Operation::allreduce, allreduce}, {Operation::reduce, reduce},       {Operation::reduce_scatter, reduce_scatter},
      {Operation::allgather, allgather}, {Operation::gather, gather},       {Operation::scatter, scatter},
      {Operation::alltoall, alltoall},   {Operation::broadcast, broadcast}, {Operation::barrier, barrier},
  };
  const auto found = functions.find(layout.operation);
  if (found == functions.end()) return {};
  return [call = call_of(communicator, layout, size), function = found->second](In in, Out out) {
    function(call, in, out);
  };
}

}}  // namespace farandole::backend
