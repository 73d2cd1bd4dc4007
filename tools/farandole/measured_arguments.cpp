#include "measured_arguments.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "calibration/read_measurements.hpp"
#include "output_options.hpp"
#include "scenario/catalogue.hpp"

namespace farandole {
namespace {

struct NamedHoldOut {
  const char* name;
  HoldOut hold_out;
};
constexpr std::array hold_outs{NamedHoldOut{"sizes", HoldOut::sizes}, NamedHoldOut{"scales", HoldOut::scales},
                               NamedHoldOut{"operations", HoldOut::operations}};

}  // namespace

void MeasuredArguments::add_to(CLI::App& command) {
  command.add_option("measured", files, "files with measurements, of any form farandole knows")->type_name("MEASURED");
  command.add_option("--topology", topology, "a file, or a name in topologies/")->type_name("T");
  command.add_option("--set", settings, "replace a value of the topology; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--only", only, "only measurements of this family or operation; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--op", operation, "the operation, where a file does not say")->type_name("OP");
  command.add_option("--algorithm", algorithm, "the algorithm, where a file does not say")->type_name("NAME");
  command.add_option("--ranks", ranks, "how many ranks, where a file does not say")->type_name("N");
  command.add_option("--nodes", nodes, "on how many nodes, where a file does not say")->type_name("N");
}

std::vector<MeasuredTime> MeasuredArguments::read() const {
  FieldDefaults defaults{operation, algorithm, std::nullopt, std::nullopt};
  if (!ranks.empty()) defaults.ranks = whole_number("--ranks", ranks, 1);
  if (!nodes.empty()) defaults.nodes = whole_number("--nodes", nodes, 1);
  std::vector<MeasuredTime> all;
  for (const std::string& file : files) {
    for (MeasuredTime& row : read_measurements(std::filesystem::path(file), defaults)) all.push_back(std::move(row));
  }
  if (only.empty()) return all;
  const auto is_wanted = [&](const MeasuredTime& row) {
    return std::ranges::any_of(only,
                               [&](const std::string& name) { return row.family == name || row.operation == name; });
  };
  std::vector<MeasuredTime> wanted;
  std::ranges::copy_if(all, std::back_inserter(wanted), is_wanted);
  if (wanted.empty()) {
    std::vector<std::string> known;
    for (const MeasuredTime& row : all) {
      if (std::ranges::find(known, row.family) == known.end()) known.push_back(row.family);
    }
    refuse_option("--only", "a family or operation of the measurements", only.front(), suggestion(only.front(), known));
  }
  return wanted;
}

Document MeasuredArguments::topology_file() const {
  const OptionValue option("--topology", topology);
  const Topology known = Catalogue().topology(topology, option.value());
  Document file = Document::read(known.file);
  for (const std::string& assignment : settings) set_value(file, assignment);
  return file;
}

HoldOut hold_out_named(const std::string& name) {
  std::vector<std::string> known;
  for (const NamedHoldOut& row : hold_outs) {
    if (row.name == name) return row.hold_out;
    known.emplace_back(row.name);
  }
  refuse_option("--hold-out", "sizes, scales or operations", name, suggestion(name, known));
}

}  // namespace farandole
