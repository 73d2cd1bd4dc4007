#include "collective/files/read_schedule.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace collective {
namespace {

Action read_action(const Value& where) {
  const auto text = read<std::string>(where);
  if (text == "copy") return Action::copy;
  if (text == "reduce") return Action::reduce;
  if (text == "relay") return Action::relay;
  where.fail_unknown("an action", {"copy", "reduce", "relay"});
}

Operation read_operation(const Value& where) {
  const Operation* operation = find_operation(read<std::string>(where));
  if (operation == nullptr) where.fail_unknown("an operation", operation_names());
  return *operation;
}

Transfer read_transfer(const Value& where) {
  Section section(where);
  Transfer transfer;
  transfer.from = section.required<int>("from");
  transfer.to = section.required<int>("to");
  transfer.chunk = section.required<std::int64_t>("chunk");
  transfer.action = read_action(section.child("action"));
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
  if (const auto bundle = section.maybe("bundle")) {
    for (const Value& element : bundle->elements()) phase.bundle.push_back(read_offset(element));
  }
  for (const Value& element : section.child("transfers").elements()) {
    phase.transfers.push_back(read_transfer(element));
  }
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
  for (const Value& element : section.child("phases").elements()) schedule.phases.push_back(read_phase(element));
  section.finish();
  return schedule;
}

}}  // namespace farandole::collective
