// What each version of Horovod does by default, and the settings a user may paste.
//
// Defaults by version were read from Horovod's sources at the release tags, and from its pull requests: fusion since
// 0.9.3; HOROVOD_CYCLE_TIME and negotiation by collectives since 0.13.3 (276); the hierarchical allreduce since 0.13.6
// (329), by reduce-scatter since 0.14.1 (411); response cache since 0.16.2; Gloo's control plane since 0.18.0 (1181);
// 128 MiB and 1 ms (2468) and copies of many tensors by one kernel (2435) since 0.21.0; a thread that does not wait for
// data since 0.23.0 (2963); torus allreduce (3608) and Gloo's gather (3633) since 0.26.0.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "training/autotune/autotuner.hpp"
#include "training/strategies/negotiation.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace training {

struct HorovodProfile {
  std::string version;
  Bytes fusion_threshold;  // 0: no fusion
  Seconds cycle;
  bool sleeps_after_pass;               // sleeps a whole cycle after each pass, else only what is left of the cycle
  bool cycle_time_adjustable;           // HOROVOD_CYCLE_TIME exists
  int cache_capacity;                   // responses remembered, 0: no response cache
  bool hierarchical_allreduce = false;  // HOROVOD_HIERARCHICAL_ALLREDUCE
  bool hierarchical_allgather = false;  // HOROVOD_HIERARCHICAL_ALLGATHER
  bool fuses_groups = true;             // not with HOROVOD_DISABLE_GROUP_FUSION
  std::optional<AutotuneSettings> autotune{};     // HOROVOD_AUTOTUNE
  Tunable tunable{true, true, true, true, true};  // by it: what nobody has set
  Negotiation negotiation = Negotiation::gathered;
  bool waits_for_data = true;    // the thread itself, until the device has computed what is to be reduced
  bool batched_copies = false;   // into and out of the fusion buffer by one kernel for many tensors
  int streams = 1;               // HOROVOD_NUM_NCCL_STREAMS: collectives take them in turn
  bool torus_allreduce = false;  // HOROVOD_TORUS_ALLREDUCE
};

/// The fusion buffer that the threshold becomes. For the hierarchical allreduce Horovod rounds it up so that every rank
/// of a node gets equally many elements, a multiple of 64 (FUSION_BUFFER_ATOMIC_UNIT) of even the longest type, 8
/// bytes.
Bytes fusion_buffer(const HorovodProfile& profile, int ranks_per_node);

/// What is fused, with the elements beyond it that make it so many, too.
Bytes rounded_for_nodes(Bytes size, Bytes element, int ranks_per_node);

/// The defaults of a version such as "0.13.8". `where` fails for text that is no version or one before 0.9.0.
HorovodProfile horovod_profile(const std::string& version, const Value& where);

/// Whether the version is that one or later; both are versions.
bool is_at_least(const std::string& version, const std::string& least);

/// Applies HOROVOD_* variables, written as Horovod writes them (bare bytes and milliseconds). Unknown names, values
/// that are no numbers and features that are not simulated fail at `where`. Which of them have no meaning here.
std::vector<std::string> apply_environment(HorovodProfile& profile, const std::map<std::string, std::string>& variables,
                                           const Value& where);

}}  // namespace farandole::training
