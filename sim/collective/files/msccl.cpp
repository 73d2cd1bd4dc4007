// MSCCL's XML, as its compiler writes it for in-place collectives (github.com/microsoft/msccl-tools,
// msccl/language/ir.py; the runtime is github.com/microsoft/msccl, src/collectives/device/msccl_interpreter.h).
//
// Understood: <algo coll ngpus nchunksperloop> <gpu id> <tb id send recv chan> <step type ...> with types s, r, rcs,
// rrc, rrs, rrcs and nop; allreduce, allgather, reduce_scatter, broadcast, reduce. Not understood, and refused: scratch
// buffers, local copies, a chunk that arrives under another number. The sum that rrs passes on without keeping it is
// kept here; nobody may read it, and the proof would say so.
//
// Thread blocks run freely; a Schedule has rounds. The n-th send of a block and channel to a GPU meets the n-th receive
// there; a transfer's round is one after the last arrival that must come before it: in the steps before it in both
// blocks, and in those they depend on.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "collective/files/msccl_steps.hpp"
#include "collective/files/read_schedule.hpp"

namespace farandole { inline namespace collective {
namespace {

using MscclSteps = std::vector<MscclStep>;

/// For every step, the one whose data it receives, or -1.
std::vector<int> find_senders(const MscclSteps& steps) {
  using Connection = std::tuple<int, int, int>;  // from, to, channel
  std::map<Connection, std::vector<int>> sends;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const MscclStep& step = steps[i];
    if (step.sends) sends[{step.gpu, step.peer_sent_to, step.channel}].push_back(static_cast<int>(i));
  }
  std::map<Connection, std::size_t> met;
  std::vector<int> senders(steps.size(), -1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const MscclStep& step = steps[i];
    if (!step.receives) continue;
    const Connection connection{step.peer_received_from, step.gpu, step.channel};
    const auto& waiting = sends[connection];
    const std::size_t turn = met[connection]++;
    if (turn >= waiting.size()) {
      throw InputError(step.place, fmt::format("a send from GPU {} that meets this receive", step.peer_received_from),
                       fmt::format("{} sends on channel {}", waiting.size(), step.channel));
    }
    senders[i] = waiting[turn];
  }
  for (const auto& [connection, list] : sends) {
    if (list.size() == met[connection]) continue;
    const MscclStep& lost = steps[static_cast<std::size_t>(list[met[connection]])];
    throw InputError(lost.place, "a receive that meets this send", fmt::format("none on GPU {}", lost.peer_sent_to));
  }
  return senders;
}

/// Longest paths through moments that must follow one another. Step i has three: it may begin, its data is there, it
/// has ended.
class Moments {
 public:
  explicit Moments(const MscclSteps& steps) : edges_(3 * steps.size()), missing_(3 * steps.size(), 0) {
    const std::vector<int> senders = find_senders(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto step = static_cast<int>(i);
      precede(begin(step), there(step), steps[i].receives ? 1 : 0);
      precede(there(step), end(step), 0);
      if (steps[i].previous >= 0) precede(end(steps[i].previous), begin(step), 0);
      if (steps[i].depends_on >= 0) precede(end(steps[i].depends_on), begin(step), 0);
      if (senders[i] < 0) continue;
      precede(there(senders[i]), there(step), 1);
    }
    keep_until_sent(steps, senders);
  }

  /// Per step, the round in which its data arrives, from 1 on; 0 or more where it receives nothing.
  [[nodiscard]] std::vector<int> rounds_of_arrival(const MscclSteps& steps) {
    std::vector<int> latest(edges_.size(), 0);
    std::vector<int> ready;
    for (std::size_t m = 0; m < missing_.size(); ++m) {
      if (missing_[m] == 0) ready.push_back(static_cast<int>(m));
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
      const auto moment = static_cast<std::size_t>(ready[next]);
      for (const auto& [later, rounds] : edges_[moment]) {
        const auto index = static_cast<std::size_t>(later);
        latest[index] = std::max(latest[index], latest[moment] + rounds);
        if (--missing_[index] == 0) ready.push_back(later);
      }
    }
    refuse_deadlock(steps);
    std::vector<int> arrivals;
    for (std::size_t i = 0; i < steps.size(); ++i) arrivals.push_back(latest[3 * i + 1]);
    return arrivals;
  }

 private:
  static int begin(int step) { return 3 * step; }
  static int there(int step) { return 3 * step + 1; }
  static int end(int step) { return 3 * step + 2; }

  void precede(int earlier, int later, int rounds) {
    edges_[static_cast<std::size_t>(earlier)].emplace_back(later, rounds);
    ++missing_[static_cast<std::size_t>(later)];
  }

  /// Sends are buffered: a block goes on before its data has arrived. What it then receives into a chunk that it has
  /// sent comes in no earlier round, so that a round reads what was sent.
  void keep_until_sent(const MscclSteps& steps, const std::vector<int>& senders) {
    std::vector<int> receivers(steps.size(), -1);
    for (std::size_t i = 0; i < senders.size(); ++i) {
      if (senders[i] >= 0) receivers[static_cast<std::size_t>(senders[i])] = static_cast<int>(i);
    }
    std::map<std::pair<int, Chunk>, int> last_receiver;  // by block and chunk
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (Chunk chunk = steps[i].chunk; chunk < steps[i].chunk + steps[i].count; ++chunk) {
        const std::pair key(steps[i].block, chunk);
        const auto sent = last_receiver.find(key);
        if (steps[i].receives && sent != last_receiver.end())
          precede(there(sent->second), there(static_cast<int>(i)), 0);
        if (receivers[i] >= 0) last_receiver[key] = receivers[i];
      }
    }
  }

  void refuse_deadlock(const MscclSteps& steps) const {
    for (std::size_t m = 0; m < missing_.size(); ++m) {
      if (missing_[m] > 0)
        throw InputError(steps[m / 3].place, "steps that can run", "steps that wait for one another");
    }
  }

  std::vector<std::vector<std::pair<int, int>>> edges_;
  std::vector<int> missing_;
};

Transfer transfer_between(const MscclStep& sender, const MscclStep& receiver) {
  if (sender.chunk != receiver.chunk || sender.count != receiver.count) {
    throw InputError(
        receiver.place,
        fmt::format("{} chunks from chunk {} on, as GPU {} sends them", sender.count, sender.chunk, sender.gpu),
        fmt::format("{} from chunk {} on", receiver.count, receiver.chunk));
  }
  return {sender.gpu, receiver.gpu, receiver.chunk, receiver.action, receiver.count};
}

}  // namespace

Schedule parse_msccl(std::string_view text, const std::string& source) {
  MscclAlgorithm algorithm = read_msccl_steps(parse_xml(text, source));
  const MscclSteps& steps = algorithm.steps;
  const std::vector<int> senders = find_senders(steps);
  const std::vector<int> arrivals = Moments(steps).rounds_of_arrival(steps);
  std::map<int, Phase> rounds;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (senders[i] < 0) continue;
    Phase& phase = rounds[arrivals[i]];
    phase.name = fmt::format("round_{}", arrivals[i]);
    phase.transfers.push_back(transfer_between(steps[static_cast<std::size_t>(senders[i])], steps[i]));
  }
  for (auto& [round, phase] : rounds) algorithm.schedule.phases.push_back(std::move(phase));
  return std::move(algorithm.schedule);
}

}}  // namespace farandole::collective
