#include "collective/files/read_schedule.hpp"

#include <fmt/format.h>

#include "collective/proof.hpp"
#include "config/named.hpp"
#include "config/section.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace collective {
namespace {

/// What the symbolic proof holds and does; far above any algorithm that people write down by hand.
constexpr double most_counts = 1 << 28;
constexpr double most_chunks_sent = 1 << 26;

constexpr double most_numbers = 1 << 24;  // of all ranks

/// The symbolic proof counts contributions; that a chunk is added to what its buffer happens to hold, only numbers
/// tell. One in each chunk is enough, whatever the chunks' sizes are to be.
std::optional<std::string> disprove_with_numbers(Schedule schedule) {
  schedule.weights.clear();
  const Chunk rows = schedule.operation == Operation::alltoall ? schedule.rows : schedule.copies;
  constexpr std::uint64_t seed = 1;
  return disprove_numerically(schedule, static_cast<int>(schedule.chunks / rows), seed);
}

double chunks_sent(const Schedule& schedule) {
  double sum = 0;
  for (const Phase& phase : schedule.phases) {
    double chunks = 0;
    for (const Transfer& transfer : phase.transfers) chunks += transfer.count;
    const double bundle = phase.bundle.empty() ? 1 : static_cast<double>(phase.bundle.size());
    sum += chunks * bundle * phase.fan * phase.repeats;
  }
  return sum;
}

}  // namespace

void require_proof(const Schedule& schedule, const Place& place) {
  const std::string expected = "an algorithm that computes " + name(schedule.operation);
  const double counts = static_cast<double>(schedule.chunks) * schedule.ranks * schedule.ranks;
  if (counts > most_counts || chunks_sent(schedule) > most_chunks_sent) {
    throw InputError(place, "an algorithm small enough to be proved",
                     fmt::format("{} ranks, {} chunks, {} rounds", schedule.ranks, schedule.chunks, rounds(schedule)));
  }
  if (static_cast<double>(schedule.chunks) * schedule.ranks > most_numbers) {
    throw InputError(place, "an algorithm small enough to be proved",
                     fmt::format("{} ranks, {} chunks", schedule.ranks, schedule.chunks));
  }
  if (const auto fault = disprove(schedule)) throw InputError(place, expected, *fault);
  if (const auto fault = disprove_with_numbers(schedule)) throw InputError(place, expected, *fault);
}

bool is_algorithm_file(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".json") || name.ends_with(".xml");
}

Algorithm algorithm_from_file(const std::filesystem::path& file, const TextReader& text) {
  const Schedule schedule = read_schedule(file, text);
  const auto build = [schedule, file](const Shape& shape) {
    if (shape.ranks == schedule.ranks) return Schedule(schedule);
    if (shape.ranks != 1) {
      throw InputError({file.string(), 0, "/ranks"}, fmt::format("an algorithm for {} ranks", shape.ranks),
                       fmt::format("one for {}", schedule.ranks));
    }
    return Schedule{schedule.operation, schedule.algorithm, 1, 1, {}};
  };
  return {schedule.operation, schedule.algorithm, "from " + file.string(), build};
}

Schedule read_schedule(const std::filesystem::path& file, const TextReader& text) {
  if (file.extension() == ".xml") {
    Schedule schedule = parse_msccl(text(file), file.string());
    require_proof(schedule, {file.string(), 1, ""});
    return schedule;
  }
  const Document document = Document::parse(text(file), file.string());
  Schedule schedule = parse_schedule(document.root());
  require_proof(schedule, document.root().place());
  return schedule;
}

namespace {

Transfer read_transfer(const Value& where) {
  Section section(where);
  Transfer transfer;
  transfer.from = section.required<int>("from");
  transfer.to = section.required<int>("to");
  transfer.chunk = section.required<std::int64_t>("chunk");
  transfer.action = read_choice<Action>(section.child("action"), "an action",
                                        {{"copy", Action::copy}, {"reduce", Action::reduce}, {"relay", Action::relay}});
  transfer.count = section.optional("count", transfer.count);
  transfer.start = section.optional("start", transfer.start);
  section.finish();
  return transfer;
}

Offset read_offset(const Value& where) {
  const auto pair = read<std::vector<int>>(where);
  if (pair.size() != 2) where.fail("a pair of rows and columns");
  return {pair[0], pair[1]};
}

Phase read_phase(const Value& where) {
  Section section(where);
  Phase phase;
  phase.name = section.required<std::string>("name");
  phase.repeats = section.optional("repeats", phase.repeats);
  phase.chunk_step = section.optional("chunk_step", phase.chunk_step);
  phase.row_step = section.optional("row_step", phase.row_step);
  phase.peer_step = section.optional("peer_step", phase.peer_step);
  phase.fan = section.optional("fan", phase.fan);
  phase.window = section.optional("window", phase.window);
  phase.one_by_one = section.optional("one_by_one", phase.one_by_one);
  if (const auto bundle = section.maybe("bundle")) phase.bundle = mapped(bundle->elements(), read_offset);
  phase.transfers = mapped(section.child("transfers").elements(), read_transfer);
  section.finish();
  return phase;
}

}  // namespace

Schedule parse_schedule(const Value& where) {
  Section section(where);
  Schedule schedule;
  schedule.algorithm = section.required<std::string>("name");
  schedule.operation = read_operation(section.child("op"));
  schedule.ranks = read_at_least(section.child("ranks"), 1);
  schedule.chunks = section.required<std::int64_t>("chunks");
  schedule.rows = section.optional("rows", schedule.operation == Operation::alltoall ? schedule.ranks : 1);
  schedule.root = section.optional("root", 0);
  schedule.weights = section.optional("weights", schedule.weights);
  schedule.copies = section.optional("copies", schedule.copies);
  schedule.servers = section.optional("servers", schedule.servers);
  schedule.first_worker = section.optional("first_worker", schedule.first_worker);
  schedule.phases = mapped(section.child("phases").elements(), read_phase);
  section.finish();
  return schedule;
}

}}  // namespace farandole::collective
