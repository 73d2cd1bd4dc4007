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
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "collective/files/read_schedule.hpp"
#include "collective/files/xml.hpp"
#include "collective/schedule.hpp"

namespace farandole { inline namespace collective {
namespace {

// The steps of an MSCCL algorithm, read from its XML and checked one by one.
//
// Only parse_msccl (files/msccl.cpp) uses it. Offsets into the input and output buffers are turned into the chunk
// numbers of collective/specification.hpp: a rank's own block stands at offset 0 of its input in an allgather, and of
// its output in a reduce_scatter.

struct MscclStep {
  int gpu = 0;
  int block = 0;  // the thread block, numbered over all GPUs
  int peer_sent_to = -1;
  int peer_received_from = -1;
  int channel = 0;
  bool receives = false;
  bool sends = false;
  Action action = Action::copy;  // of what it receives
  Chunk chunk = 0;
  int count = 1;
  int previous = -1;  // the step before in the thread block, or -1; an index like all that follow
  int depends_on = -1;
  Place place;
};

struct MscclAlgorithm {
  Schedule schedule;  // without phases
  std::vector<MscclStep> steps;
};

struct StepType {
  std::string_view name;
  bool receives;
  bool sends;
  Action action;
};

constexpr std::array types{
    StepType{"s", false, true, Action::copy},    StepType{"r", true, false, Action::copy},
    StepType{"rcs", true, true, Action::copy},   StepType{"rrc", true, false, Action::reduce},
    StepType{"rrs", true, true, Action::reduce}, StepType{"rrcs", true, true, Action::reduce},
    StepType{"nop", false, false, Action::copy},
};

/// More than any algorithm needs, few enough to be walked through one by one.
constexpr Chunk most_chunks = 1 << 16;
constexpr Chunk most_chunks_of_steps = 1 << 22;

const StepType& type_of(const XmlElement& step) {
  const std::string& name = step.text("type");
  for (const StepType& type : types) {
    if (type.name == name) return type;
  }
  throw InputError(step.place, "a step of type s, r, rcs, rrc, rrs, rrcs or nop", quoted(name));
}

Operation operation_of(const XmlElement& root) {
  const std::string& text = root.text("coll");
  const Operation* operation = find_operation(text);
  if (operation != nullptr) return *operation;
  if (text == "reducescatter") return Operation::reduce_scatter;
  throw InputError(root.place, "a collective", quoted(text), suggestion(text, operation_names()));
}

Schedule schedule_of(const XmlElement& root) {
  Schedule schedule;
  schedule.operation = operation_of(root);
  schedule.algorithm = root.text("name");
  schedule.ranks = root.number("ngpus");
  schedule.chunks = root.number("nchunksperloop");
  schedule.root = root.number("root", 0);
  const bool is_alltoall = schedule.operation == Operation::alltoall;
  if (schedule.chunks < 1 || schedule.chunks > most_chunks) {
    throw InputError(root.place, fmt::format("1 to {} chunks", most_chunks), std::to_string(schedule.chunks));
  }
  if (is_alltoall || schedule.ranks < 1) {
    throw InputError(root.place, "a collective other than alltoall, of at least one GPU",
                     fmt::format("{} of {} GPUs", name(schedule.operation), schedule.ranks));
  }
  return schedule;
}

class StepsReader {
 public:
  explicit StepsReader(const XmlElement& root) : result_{schedule_of(root), {}} {
    for (const XmlElement& gpu : root.children) read_gpu(gpu);
  }

  MscclAlgorithm result() { return std::move(result_); }

 private:
  void read_gpu(const XmlElement& gpu) {
    rank_ = gpu.number("id");
    if (gpu.name != "gpu" || rank_ < 0 || rank_ >= result_.schedule.ranks) {
      throw InputError(gpu.place, fmt::format("a <gpu> with an id below {}", result_.schedule.ranks), gpu.name);
    }
    first_of_block_.clear();
    const std::size_t first = result_.steps.size();
    std::vector<const XmlElement*> elements;
    for (const XmlElement& block : gpu.children) {
      first_of_block_[block.number("id")] = static_cast<int>(result_.steps.size());
      for (const XmlElement& step : block.children) {
        add_step(block, step);
        elements.push_back(&step);
      }
      ++blocks_;
    }
    for (std::size_t i = 0; i < elements.size(); ++i) result_.steps[first + i].depends_on = dependency(*elements[i]);
  }

  void add_step(const XmlElement& block, const XmlElement& element) {
    const StepType& type = type_of(element);
    const int number = static_cast<int>(result_.steps.size());
    const bool is_first = result_.steps.empty() || result_.steps.back().block != blocks_;
    MscclStep step{rank_,
                   blocks_,
                   block.number("send"),
                   block.number("recv"),
                   block.number("chan", 0),
                   type.receives,
                   type.sends,
                   type.action,
                   0,
                   1,
                   is_first ? -1 : number - 1,
                   -1,
                   element.place};
    if (type.receives || type.sends) {
      step.count = element.number("cnt");
      if (step.count < 1 || step.count > result_.schedule.chunks) {
        throw InputError(element.place, fmt::format("1 to {} chunks", result_.schedule.chunks),
                         std::to_string(step.count));
      }
      sent_ += step.count;
      if (sent_ > most_chunks_of_steps) {
        throw InputError(element.place, fmt::format("at most {} chunks in all steps", most_chunks_of_steps), "more");
      }
      // What a step leaves behind it leaves at its destination; one that keeps nothing names only its source.
      const bool has_source_only = !type.receives || type.name == "rrs";
      step.chunk = chunk_at(element, has_source_only ? "src" : "dst");
      if (type.action == Action::reduce && chunk_at(element, "src") != step.chunk) {
        throw InputError(element.place, "a reduction in place", "another chunk at its source");
      }
    }
    result_.steps.push_back(step);
  }

  [[nodiscard]] Chunk chunk_at(const XmlElement& step, const std::string& end) const {
    const Schedule& schedule = result_.schedule;
    const std::string& buffer = step.text(end + "buf");
    if (buffer != "i" && buffer != "o") {
      throw InputError(step.place, "the input or the output buffer: i or o", quoted(buffer));
    }
    const int offset = step.number(end + "off");
    const bool is_own_block = (buffer == "i" && schedule.operation == Operation::allgather) ||
                              (buffer == "o" && schedule.operation == Operation::reduce_scatter);
    return offset + (is_own_block ? rank_ * (schedule.chunks / schedule.ranks) : 0);
  }

  [[nodiscard]] int dependency(const XmlElement& step) const {
    const int block = step.number("depid", -1);
    if (block < 0) return -1;
    const auto found = first_of_block_.find(block);
    const int offset = step.number("deps");
    const auto size = static_cast<int>(result_.steps.size());
    const bool is_known = found != first_of_block_.end() && offset >= 0 && offset < size - found->second;
    const int index = is_known ? found->second + offset : -1;
    const bool is_there = is_known && result_.steps[static_cast<std::size_t>(index)].block ==
                                          result_.steps[static_cast<std::size_t>(found->second)].block;
    if (!is_there) throw InputError(step.place, "a step to depend on", fmt::format("block {}, step {}", block, offset));
    return index;
  }

  MscclAlgorithm result_;
  std::map<int, int> first_of_block_;  // of this GPU: the number of its first step
  int rank_ = 0;
  int blocks_ = 0;
  Chunk sent_ = 0;
};

MscclAlgorithm read_msccl_steps(const XmlElement& root) {
  if (root.name != "algo") throw InputError(root.place, "<algo>", "<" + root.name + ">");
  return StepsReader(root).result();
}

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
