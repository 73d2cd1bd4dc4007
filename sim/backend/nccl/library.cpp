#include <map>

#include "backend/nccl/check.hpp"
#include "backend/nccl/session.hpp"
#include "backend/rank_program.hpp"

namespace farandole { inline namespace backend {
namespace {

using In = std::span<const float>;
using Out = std::span<float>;

/// Whose part of a buffer.
struct Block {
  std::size_t begin = 0;
  std::size_t count = 0;
};

struct Call {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  int rank = 0;
  int ranks = 1;
  int root = 0;
  std::size_t count = 0;      // of the whole array
  std::vector<Block> blocks;  // one of each rank; of an alltoall, what this rank sends
  std::vector<Block> coming;  // of an alltoall: what comes from each rank

  [[nodiscard]] const Block& own() const { return blocks[static_cast<std::size_t>(rank)]; }
};

Block block_of(const ChunkSizes& sizes, Chunk chunk) {
  const std::int64_t begin = begin_of(sizes, chunk);
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(begin_of(sizes, chunk + 1) - begin)};
}

Call call_of(const NcclEndpoint& endpoint, const Schedule& layout, std::int64_t size) {
  Call call{endpoint.communicator(),
            endpoint.stream(),
            endpoint.rank(),
            layout.ranks,
            layout.root,
            static_cast<std::size_t>(size),
            {},
            {}};
  const ChunkSizes sizes(Bytes(static_cast<double>(size)), layout);
  for (int peer = 0; peer < layout.ranks; ++peer) {
    if (layout.operation == Operation::alltoall) {
      call.blocks.push_back(block_of(sizes, Chunk{call.rank} * layout.ranks + peer));
      call.coming.push_back(block_of(sizes, Chunk{peer} * layout.ranks + call.rank));
    } else if (layout.chunks == layout.ranks) {
      call.blocks.push_back(block_of(sizes, peer));
    }
  }
  return call;
}

void allreduce(const Call& call, In in, Out out) {
  expect(ncclAllReduce(in.data(), out.data(), call.count, ncclFloat, ncclSum, call.communicator, call.stream),
         "ncclAllReduce");
}

void reduce(const Call& call, In in, Out out) {
  expect(ncclReduce(in.data(), out.data(), call.count, ncclFloat, ncclSum, call.root, call.communicator, call.stream),
         "ncclReduce");
}

void broadcast(const Call& call, In in, Out out) {
  expect(ncclBroadcast(in.data(), out.data(), call.count, ncclFloat, call.root, call.communicator, call.stream),
         "ncclBroadcast");
}

bool are_equal(const Call& call) {
  for (const Block& block : call.blocks) {
    if (block.count != call.own().count) return false;
  }
  return true;
}

/// `each(peer)` in one NCCL group.
template <class Each>
void grouped(int ranks, Each each) {
  expect(ncclGroupStart(), "opening an NCCL group");
  for (int peer = 0; peer < ranks; ++peer) each(peer);
  expect(ncclGroupEnd(), "closing an NCCL group");
}

/// NCCL gathers blocks of one size; of others, each is broadcast.
void allgather(const Call& call, In in, Out out) {
  const float* own = in.data() + call.own().begin;
  if (are_equal(call)) {
    return expect(ncclAllGather(own, out.data(), call.own().count, ncclFloat, call.communicator, call.stream),
                  "ncclAllGather");
  }
  grouped(call.ranks, [&](int peer) {
    const Block& block = call.blocks[static_cast<std::size_t>(peer)];
    expect(ncclBroadcast(own, out.data() + block.begin, block.count, ncclFloat, peer, call.communicator, call.stream),
           "ncclBroadcast");
  });
}

void reduce_scatter(const Call& call, In in, Out out) {
  float* own = out.data() + call.own().begin;
  if (are_equal(call)) {
    return expect(
        ncclReduceScatter(in.data(), own, call.own().count, ncclFloat, ncclSum, call.communicator, call.stream),
        "ncclReduceScatter");
  }
  grouped(call.ranks, [&](int peer) {
    const Block& block = call.blocks[static_cast<std::size_t>(peer)];
    expect(
        ncclReduce(in.data() + block.begin, own, block.count, ncclFloat, ncclSum, peer, call.communicator, call.stream),
        "ncclReduce");
  });
}

void send(const Call& call, const float* data, const Block& block, int to) {
  expect(ncclSend(data + block.begin, block.count, ncclFloat, to, call.communicator, call.stream), "ncclSend");
}

void receive(const Call& call, float* data, const Block& block, int from) {
  expect(ncclRecv(data + block.begin, block.count, ncclFloat, from, call.communicator, call.stream), "ncclRecv");
}

void gather(const Call& call, In in, Out out) {
  grouped(call.ranks, [&](int peer) {
    if (peer == call.root) send(call, in.data(), call.own(), call.root);
    if (call.rank == call.root) receive(call, out.data(), call.blocks[static_cast<std::size_t>(peer)], peer);
  });
}

void scatter(const Call& call, In in, Out out) {
  grouped(call.ranks, [&](int peer) {
    if (call.rank == call.root) send(call, in.data(), call.blocks[static_cast<std::size_t>(peer)], peer);
    if (peer == call.root) receive(call, out.data(), call.own(), call.root);
  });
}

void alltoall(const Call& call, In in, Out out) {
  grouped(call.ranks, [&](int peer) {
    send(call, in.data(), call.blocks[static_cast<std::size_t>(peer)], peer);
    receive(call, out.data(), call.coming[static_cast<std::size_t>(peer)], peer);
  });
}

using Function = void (*)(const Call&, In, Out);

}  // namespace

CollectiveRun nccl_collective(const NcclEndpoint& endpoint, const Schedule& layout, std::int64_t size) {
  static const std::map<Operation, Function> functions{
      {Operation::allreduce, allreduce}, {Operation::reduce, reduce},       {Operation::reduce_scatter, reduce_scatter},
      {Operation::allgather, allgather}, {Operation::gather, gather},       {Operation::scatter, scatter},
      {Operation::alltoall, alltoall},   {Operation::broadcast, broadcast},
  };
  const auto found = functions.find(layout.operation);
  if (found == functions.end()) return {};
  return
      [call = call_of(endpoint, layout, size), function = found->second](In in, Out out) { function(call, in, out); };
}

}}  // namespace farandole::backend
