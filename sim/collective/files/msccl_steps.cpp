#include "collective/files/msccl_steps.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace farandole { inline namespace collective {
namespace {

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

}  // namespace

MscclAlgorithm read_msccl_steps(const XmlElement& root) {
  if (root.name != "algo") throw InputError(root.place, "<algo>", "<" + root.name + ">");
  return StepsReader(root).result();
}

}}  // namespace farandole::collective
