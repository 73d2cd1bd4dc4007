// farandole merge: the shards of a run become its result.
#include <memory>

#include "output_options.hpp"
#include "report/reports.hpp"
#include "study/study.hpp"

namespace farandole {
namespace {

struct MergeArguments {
  std::vector<std::filesystem::path> shards;
  OutputOptions output;
};

void merge(const MergeArguments& arguments) {
  Targets targets;
  for (const std::filesystem::path& shard : arguments.shards) targets.reads("a shard", shard);
  arguments.output.add_to(targets);
  targets.check();
  const Merged merged = merge_shards(arguments.shards);
  OutputOptions output = arguments.output;
  if (output.format.empty()) output.format = merged.heading.format;
  const Format format = output.chosen_format();
  output.write([&](std::ostream& out) {
    const auto write = merged.heading.comparison ? write_training_comparison : write_training;
    const StudyHeading& heading = merged.heading;
    write(out, format, {heading.scenario, heading.settings, {}, {}, output.settings, {}, heading.question},
          merged.points);
  });
}

}  // namespace

void add_merge(CLI::App& app) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = app.add_subcommand("merge", "Join the shards of a run (run --shard I/N) into its whole result");
  command->add_option("shards", arguments->shards, "what each run --shard I/N --output FILE wrote")
      ->required()
      ->type_name("SHARD...");
  arguments->output.format.clear();
  command
      ->add_option("--format", arguments->output.format, "table, json or csv; as the shards were asked for unless said")
      ->type_name("FORMAT");
  command->add_option("--output", arguments->output.file, "write the result to this file instead of the terminal")
      ->type_name("FILE");
  arguments->output.add_settings_to(*command);
  command->footer("Example:\n  farandole merge shard-*.json --output whole.json");
  command->callback([arguments] { merge(*arguments); });
}

}  // namespace farandole
