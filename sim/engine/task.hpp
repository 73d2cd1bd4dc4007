// What takes time: computation, collectives, messages and delays.
//
// A task that ranks carry out alike, each at its own moment (`Task`: computation or a collective), is added to the
// engine with what it comes after and the stream on which it stands in line. What concerns one worker alone (a message
// to a server, the server's work on it, a delay) is light: there may be millions of them, and they carry a `Note`.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "collective/operation.hpp"
#include "collective/rank_times.hpp"

namespace farandole { inline namespace engine {

/// What a strategy wants to be told when something is over; the engine only hands it back.
struct Note {
  int what = -1;  // below 0: nothing is to be told
  int who = 0;
  int index = 0;
};

/// A moment within a computation that somebody waits for.
struct Mark {
  Seconds at;            // since its begin: host time, or work of the device
  bool on_host = false;  // the host has queued it then, however fast the device is
  Note note;
};

/// A communicator: which ranks meet. All groups of a kind go on at once.
enum class Group : std::uint8_t {
  all,              // ranks that train the same part of the model
  tensor,           // neighbouring ranks that compute one layer together
  shards,           // neighbouring ranks that keep a model together
  kept,             // neighbours of these that keep together what one has computed forward
  replicas,         // ranks that keep the same shard
  node,             // ranks of a node
  across,           // ranks that are at the same place on their nodes; they meet by MPI, out of their hosts' memory
  experts,          // neighbouring replicas that share a layer's experts
  expert_replicas,  // ranks that have the same experts
  neighbours        // of two stages of a pipeline those at the same place
};

/// One collective over the ranks of every group, with what the device does before and after it on that stream: copies
/// into and out of a buffer, encoding and decoding. Which algorithm carries it out is the engine's affair.
struct Collective {
  Operation operation = Operation::allreduce;
  Bytes size;  // as the operation counts it (collective/chunk_sizes.hpp)
  Seconds copy_in{};
  Seconds copy_out{};
  bool hierarchical = false;  // by the hierarchical algorithm, whatever the scenario says: a tuner is trying it
  Group group = Group::all;   // who meets
};

/// A collective within a computation, which stops until it is over: what a replica's devices exchange layer by layer.
struct InnerExchange {
  Seconds at;  // work of the device since the computation's begin
  Collective what;
};

/// What a stage of a pipeline hands to a neighbour and takes from it. Each message begins when both stages are at it,
/// from every rank to the one at the same place of the other stage; what is sent, and how large, is the pipeline's
/// affair (training/staged_trainer.hpp).
struct StageExchange {
  int with = 1;  // 1: the next stage, -1: the one before
  bool sends = false;
  bool receives = false;
};

/// Work of every rank's device, at nominal speed.
struct Compute {
  Seconds work;
  std::vector<Mark> marks{};
  std::vector<InnerExchange> exchanges{};  // in order
};

using TaskId = int;

/// Streams of a job, in order: computation, and communication, where as many collectives as it is wide go at once.
enum Stream : int {
  computing = 0,
  communicating = 1,
  communicating_among_replicas = 2,
  communicating_among_stages = 3,
  streams = 4
};

struct Task {
  std::variant<Compute, Collective, StageExchange> what;
  RankTimes earliest{};         // rank by rank; empty: as soon as what comes before is done
  std::vector<TaskId> after{};  // rank by rank likewise
  Stream stream = computing;
  Note note{};
};

/// When a rank, or the last of all, passed each stage of a task; a computation reduces from its begin to its end.
struct Stages {
  Seconds begin;     // the stream is free and the data is there: copying in starts
  Seconds reducing;  // the collective starts
  Seconds reduced;   // the collective ends
  Seconds end;       // copied out
};

struct TaskTimes {
  RankTimes begin;
  RankTimes end;
  Stages first_rank{};
};

/// Between a worker and a server runs one connection each way; what is sent on it arrives in order.
struct Connection {
  int worker = 0;
  int server = 0;
  bool to_server = true;
};

}}  // namespace farandole::engine
